/** What people do on a machine of their own works in a sandbox: HOME, installs for one user, /run, /var, /etc, databases. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import type { TestContext } from 'node:test'

import type { ExecResult } from '../../../src/index.ts'
import { guestHome } from '../../../src/jail/plan/place.ts'
import { useSandbox } from '../use-sandbox.ts'

const { sandbox } = await useSandbox()

/** Skips where the machine has no such program. */
async function lacks(context: TestContext, program: string): Promise<boolean> {
  if ((await sandbox.exec(`command -v ${program}`)).success) return false
  context.skip(`there is no ${program} here`)
  return true
}

const { isolation } = await sandbox.exec(':')

const said = ({ stdout, stderr }: ExecResult): string => `${stdout}\n${stderr}`

test('HOME lies beside the workspace, is on its disk, and stays from command to command', async () => {
  await sandbox.exec('echo kept > ~/.settings; echo in > /workspace/file')
  const { stdout } = await sandbox.exec('echo ~; getent passwd guest | cut -d: -f6; cat ~/.settings; ls -A')
  assert.equal(stdout, '/home/guest\n/home/guest\nkept\nfile\n')
  const { stdout: devices } = await sandbox.exec('stat -c %d ~ /workspace | sort -u | wc -l')
  assert.equal(devices, '1\n')
  await sandbox.writeFile(`${guestHome}/.netrc`, 'machine example')
  assert.equal((await sandbox.exec('cat ~/.netrc')).stdout, 'machine example')
})

test('what a command with credentials finds as HOME is its own, and empty', async () => {
  await sandbox.exec('echo planted > ~/.npmrc')
  const { stdout } = await sandbox.exec('echo ~; ls -A ~; echo own > ~/.npmrc', { env: { TOKEN: 't' } })
  assert.equal(stdout, '/home/guest\n')
  assert.equal((await sandbox.exec('cat ~/.npmrc')).stdout, 'planted\n')
})

test('a repository stays clean while programs keep their files at home', async (context) => {
  if (await lacks(context, 'git')) return
  const commands = [
    'git init -q clean && cd clean && printf "node_modules\\ntarget\\n" > .gitignore && git add . && git -c user.name=a -c user.email=a@b commit -qm first',
    'mkdir -p ../dependency && echo \'{"name":"dependency","version":"1.0.0"}\' > ../dependency/package.json',
    'command -v npm >/dev/null && npm init -y >/dev/null && git add . && npm install --no-audit --no-fund ../dependency >/dev/null 2>&1 && git add package.json package-lock.json',
    'command -v ssh-keygen >/dev/null && ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519',
    'python3 -m pip install --user nothing-of-this-name >/dev/null 2>&1',
    'command -v gpg >/dev/null && gpg --list-keys >/dev/null 2>&1',
  ]
  await sandbox.exec(commands.join('\n'))
  const { stdout } = await sandbox.exec(
    'git status --porcelain | grep -v "^A "; test -d ~/.npm -o -d ~/.ssh && echo at home; cd ..',
  )
  assert.equal(stdout, 'at home\n')
  assert.doesNotMatch(stdout, /\.npm|\.ssh|\.gnupg|\.cache/)
})

test('npm installs for the user, and what it installs is found', async (context) => {
  if (await lacks(context, 'npm')) return
  const made = await sandbox.exec(
    `mkdir -p tool && cd tool && printf '#!/bin/sh\\necho greetings\\n' > run.sh && echo '{"name":"greet","version":"1.0.0","bin":{"greet":"run.sh"}}' > package.json && npm pack --silent && npm install -g --no-audit --no-fund ./greet-1.0.0.tgz; cd ..`,
  )
  assert.equal(made.exitCode, 0, said(made))
  assert.equal((await sandbox.exec('greet')).stdout, 'greetings\n')
  assert.match((await sandbox.exec('command -v greet')).stdout, /\/\.local\/bin\/greet$/m)
})

test('npx runs a program of the project', async (context) => {
  if (await lacks(context, 'npx')) return
  const command = `mkdir -p node_modules/.bin && printf '#!/bin/sh\\necho by npx\\n' > node_modules/.bin/named && chmod +x node_modules/.bin/named && npx named`
  const result = await sandbox.exec(command)
  assert.match(result.stdout, /by npx/, said(result))
})

test('corepack puts its programs where they are found', async (context) => {
  if (await lacks(context, 'corepack')) return
  const result = await sandbox.exec('corepack enable && command -v pnpm')
  assert.equal(result.stdout, `${guestHome}/.local/bin/pnpm\n`, said(result))
})

test('an addon finds the headers of the Node that runs it', async (context) => {
  if (await lacks(context, 'node')) return
  const { stdout: dir } = await sandbox.exec('echo $npm_config_nodedir')
  if (dir === '\n') return context.skip('the Node of guests comes without headers')
  const versions = await sandbox.exec(
    `node -p process.versions.modules; sed -n 's/^#define NODE_MODULE_VERSION \\([0-9]\\)/\\1/p' $npm_config_nodedir/include/node/node_version.h`,
  )
  const [running, header] = versions.stdout.trim().split('\n')
  assert.equal(header, running, said(versions))
  if (await lacks(context, 'gcc')) return
  const source =
    '#include <node_api.h>\nNAPI_MODULE_INIT() { napi_value v; napi_create_uint32(env, 7, &v); return v; }'
  await sandbox.writeFile('addon.c', source)
  const built = await sandbox.exec(
    'gcc -shared -fPIC -I $npm_config_nodedir/include/node addon.c -o addon.node && node -p "require(\'./addon.node\')"',
  )
  assert.equal(built.stdout, '7\n', said(built))
})

test('programs find the folders for what runs and what passes, and may write to them', async () => {
  const folders = '/run /run/lock $XDG_RUNTIME_DIR /var/run /var/tmp /var/lock'
  const { stdout, stderr } = await sandbox.exec(
    `for folder in ${folders}; do mkdir $folder/made && rmdir $folder/made && echo $folder; done; stat -c '%a %U' $XDG_RUNTIME_DIR`,
  )
  assert.equal(stdout, `/run\n/run/lock\n/run/user/1000\n/var/run\n/var/tmp\n/var/lock\n700 guest\n`, stderr)
})

test('the database of packages answers as on the machine', async (context) => {
  if (await lacks(context, 'dpkg-query')) return
  if (!existsSync('/var/lib/dpkg/status')) return context.skip('no package is installed')
  const result = await sandbox.exec(
    'dpkg -l dpkg | grep -c ^ii; dpkg -S /usr/bin/dpkg; dpkg -L dpkg | grep -x /usr/bin/dpkg',
  )
  assert.equal(result.stdout, '1\ndpkg: /usr/bin/dpkg\n/usr/bin/dpkg\n', said(result))
})

test('installed programs find their settings in /etc', async (context) => {
  // Nothing of these lacks on the host and here at once: a link that leads nowhere there leads nowhere here.
  const { stdout } = await sandbox.exec('cat /etc/os-release; readlink -e /etc/localtime; cat /etc/timezone')
  assert.match(stdout, /^ID=/m)
  assert.match(stdout, /zoneinfo\/(Etc\/)?UTC\nEtc\/UTC\n$/)
  const paths = ['/etc/matplotlibrc', '/etc/maven/m2.conf', '/etc/manpath.config', '/etc/debian_version']
  const there = paths.filter((path) => existsSync(path))
  if (there.length === 0) return context.skip('nothing of it is installed')
  const shown = await sandbox.exec(`cat ${there.join(' ')} >/dev/null`)
  assert.deepEqual([shown.exitCode, shown.stderr], [0, ''])
})

const languages: Readonly<Record<string, readonly [string, RegExp]>> = {
  java: ['java -XX:+PrintFlagsFinal -version 2>/dev/null | grep " MaxHeapSize"', /= 805306368 /],
  mvn: ['mvn -v', /Apache Maven/],
  man: ['man -w ls', /man1\/ls/],
  lscpu: ['lscpu', /^CPU\(s\): +\d+$/m],
  gcc: [
    `printf 'int main(){return 0;}' > sane.c && gcc -fsanitize=address sane.c -o sane && ./sane && echo sane`,
    /^sane$/m,
  ],
  ldconfig: ['ldconfig --version', /ldconfig/],
}
for (const [program, [command, expected]] of Object.entries(languages))
  test(`${program} works`, async (context) => {
    if (await lacks(context, program)) return
    // Without a cgroup each process has a limit on its data, and a sanitizer reserves more than any machine has.
    if (program === 'gcc' && isolation.level !== 'strong')
      return context.skip('a sanitizer reserves more than a process may have as data here')
    const result = await sandbox.exec(command)
    assert.match(result.stdout, expected, said(result))
  })
