/**
 * Traps that user code plants for a command with credentials: start-up files, configuration, programs with the
 * names of others, libraries, variables, functions, aliases, the name of a folder.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { guestHome } from '../../../src/jail/plan/place.ts'
import { inventSecret } from '../../support/hostile/secret-scanner.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Each trap that is obeyed leaves a trace in a file. */
const trap = '/usr/bin/env >> /workspace/caught'

const startupFiles = [
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshenv', '.kshrc', 'env.sh'],
  ...['.inputrc', '.npmrc', '.yarnrc', '.curlrc', '.wgetrc', '.netrc', '.gitconfig', '.config/git/config'],
  ...['.aws/config', '.aws/credentials', '.pip/pip.conf', '.config/pip/pip.conf', '.docker/config.json'],
  ...[
    '.ssh/config',
    '.pythonrc.py',
    '.local/lib/python3/site-packages/usercustomize.py',
    '.node_repl_history',
  ],
]
const programs = ['ls', 'env', 'cat', 'bash', 'sh', 'python3', 'node', 'git', 'aws', 'curl', 'npm', 'true']

const plant = `
mkdir -p bin lib && for f in ${startupFiles.join(' ')}; do mkdir -p "$(dirname $f)"; echo '${trap}' > $f; done
for p in ${programs.join(' ')}; do printf '#!/bin/sh\\n${trap}\\n' > bin/$p; cp bin/$p $p; chmod +x bin/$p $p; done
printf 'import os\\nos.system("${trap}")\\n' | tee sitecustomize.py usercustomize.py lib/sitecustomize.py > .pythonrc.py
echo 'require("child_process").execSync("${trap}")' > preload.cjs
cp -r .bashrc .profile bin lib /tmp/ 2>/dev/null; cp -r .[!.]* bin lib ~/ 2>/dev/null; cp bin/* ~/.local/bin/; cp -r .bashrc .profile bin /run/ 2>/dev/null
export BASH_ENV=/workspace/env.sh ENV=/workspace/env.sh PROMPT_COMMAND='${trap}' LD_LIBRARY_PATH=/workspace/lib
export PS4='$(${trap})' CDPATH=/tmp IFS=/ PYTHONPATH=/workspace/lib NODE_OPTIONS='--require /workspace/preload.cjs'
for p in ${programs.join(' ')} cd builtin exec eval; do eval "$p() { ${trap}; }"; export -f $p 2>/dev/null; alias $p='${trap};'; done
command trap '${trap}' DEBUG ERR EXIT RETURN; command set -x`

const variables = {
  PATH: '/workspace/bin:/workspace:.',
  BASH_ENV: '/workspace/env.sh',
  ENV: '/workspace/env.sh',
  LD_PRELOAD: '/workspace/lib/evil.so',
  LD_LIBRARY_PATH: '/workspace/lib',
  LD_AUDIT: '/workspace/lib/evil.so',
  PYTHONPATH: '/workspace/lib',
  PYTHONSTARTUP: '/workspace/.pythonrc.py',
  NODE_OPTIONS: '--require /workspace/preload.cjs',
  HOME: '/workspace',
  SHELLOPTS: 'xtrace',
  PS4: `$(${trap})`,
  PROMPT_COMMAND: trap,
  GIT_SSH_COMMAND: trap,
  PAGER: trap,
}

const everyday = `ls / > /dev/null; env > /dev/null; cat /etc/hostname; bash -c true; bash -ic true 2> /dev/null; sh -c true
cd ~; python3 -c 'import json'; command -v node > /dev/null && node -e 'require("fs")'; command -v git > /dev/null && git --version > /dev/null
echo "$PATH $HOME $(ls -A ~)"`

test('a command with credentials uses no file that user code has planted', async () => {
  await using target = await openTarget(guests)
  const { sandbox } = target
  const { stdout: path } = await sandbox.exec('printf %s "${PATH#*:}"')
  await target.attack(plant)
  await sandbox.setEnvVars(variables)
  // The counter-check: in the user space the traps work.
  await target.attack('ls', 2000)
  assert.equal((await sandbox.exec('[ -s /workspace/caught ]', { env: { LOOK: '1' } })).exitCode, 0)
  const secret = inventSecret()
  for (let round = 0; round < 2; round++) {
    await sandbox.exec('/bin/rm -f caught', { cwd: '/workspace', env: { CLEAN: '1' } })
    const { stdout, stderr, exitCode } = await sandbox.exec(everyday, { env: { SECRET: secret } })
    assert.deepEqual([stdout, stderr, exitCode], [`cell\n${path} ${guestHome} \n`, '', 0])
    const { exitCode: isCaught } = await sandbox.exec('[ -e /workspace/caught ]', { env: { LOOK: '1' } })
    assert.equal(isCaught, 1, 'something planted was obeyed')
  }
})

test('the name of a session’s folder is never executed, whatever it contains', async () => {
  await using target = await openTarget(guests)
  const names = [
    `$(${trap})`,
    `\`${trap}\``,
    `'; ${trap}; '`,
    `"; ${trap}; "`,
    `\n${trap}\n`,
    `-P`,
    `\\'; ${trap} #`,
  ]
  for (const name of names) {
    const folder = `/workspace/${name.replaceAll('/workspace/', '')}`
    await target.attack(`mkdir -p -- ${quoted(folder)}; cd -- ${quoted(folder)}`)
    const { stdout, stderr } = await target.sandbox.exec(
      'printf %s "$PWD"; [ -e /workspace/caught ] && echo caught; [ -e caught ] && echo caught',
      {
        env: { SECRET: 'kept' },
      },
    )
    assert.deepEqual([stdout, stderr], [folder, ''])
  }
})

test('a planted program is found only if the command names it', async () => {
  await using target = await openTarget(guests, {
    files: { deploy: '#!/bin/sh\necho "deployed with $SECRET"\n' },
  })
  await target.attack('chmod +x deploy')
  const env = { SECRET: 'kept' }
  const unnamed = await target.sandbox.exec('deploy', { env })
  assert.equal(unnamed.exitCode, 127)
  const named = await target.sandbox.exec('./deploy', { env })
  assert.equal(named.stdout, 'deployed with kept\n')
})

test('a command with credentials writes no core file', async () => {
  await using target = await openTarget(guests)
  const code =
    'ulimit -c unlimited; cd /workspace; bash -c "kill -SEGV \\$\\$"; bash -c "kill -ABRT \\$\\$"; find / -xdev -name "*core*" -newer /proc/self/status 2> /dev/null; ls -A'
  const { stdout } = await target.sandbox.exec(code, { env: { SECRET: inventSecret() } })
  assert.equal(stdout, '')
})

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
