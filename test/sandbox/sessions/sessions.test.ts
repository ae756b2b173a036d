/** Sessions: what persists from one command to the next, what does not, and that two sessions do not mix. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useSandbox } from '../use-sandbox.ts'

const { sandbox } = await useSandbox()

/** The commands of one session, one after the other, each with what it prints. */
type Script = readonly (readonly [command: string, stdout: string, exitCode?: number])[]

const stays: Readonly<Record<string, Script>> = {
  'the working folder': [
    ['mkdir -p /tmp/a && cd /tmp/a', ''],
    ['pwd', '/tmp/a\n'],
    ['cd - ; cd - >/dev/null', '/workspace\n'],
    ['pwd; echo $OLDPWD', '/tmp/a\n/workspace\n'],
  ],
  'the working folder of a command that fails': [
    ['cd /tmp; set -e; false', '', 1],
    ['pwd', '/tmp\n'],
    ['cd /usr; exit 3', '', 3],
    ['pwd', '/usr\n'],
  ],
  'a working folder of any name': [
    [`d=$'/tmp/-P a\\'"\\n$(x)\\xff'; mkdir -p -- "$d" && cd -- "$d"`, ''],
    ['printf %q "$PWD"', `$'/tmp/-P a\\'"\\n$(x)\\377'`],
    ['cd /', ''],
    ['pwd', '/\n'],
  ],
  'exported variables, and no others': [
    ['export A=1; B=2; declare -x -i N=5; export E=', ''],
    ['echo "[$A][${B-unset}][$N][${E-unset}]"; N+=3; unset A', '[1][unset][5][]\n'],
    ['echo "${A-unset} $N"', 'unset 8\n'],
  ],
  'a variable of any value': [
    [`export V=$'a\\'b"c\\n$(x)\\\\\\t\\x01\\x7f\\xff é 漢'; printf %s "$V" | md5sum > /tmp/sum`, ''],
    ['printf %s "$V" | md5sum | cmp - /tmp/sum && echo same', 'same\n'],
  ],
  functions: [
    ['f() { echo f:$1; }; g() { cat <<X\n$1\nX\n}', ''],
    ['f 1; g "a b"', 'f:1\na b\n'],
    ['unset -f f; export -f g', ''],
    ['type -t f; bash -c "g 2"', '2\n'],
  ],
  'functions that only some options can read': [
    ['shopt -s extglob', ''],
    ['f() { case $1 in +(a)) echo yes;; esac; }', ''],
    ['f aaa', 'yes\n'],
  ],
  aliases: [
    [`alias ll='echo listed'; alias -- -='echo dash'`, ''],
    ['ll; -', 'listed\ndash\n'],
  ],
  'options of set': [
    ['set -u -o pipefail -f +B', ''],
    ['echo /*{a,b}; false | true', '/*{a,b}\n', 1],
    ['echo $nothing; echo no', '', 127],
    ['set +u +o pipefail +f -B; echo {a,b}', 'a b\n'],
    ['echo [$nothing]; false | true', '[]\n'],
  ],
  'set -e': [
    ['set -e', ''],
    ['false; echo no', '', 1],
    ['set +e', ''],
    ['false; echo yes', 'yes\n'],
  ],
  noclobber: [
    ['set -o noclobber; echo 1 > /tmp/kept', ''],
    ['echo 2 > /tmp/kept', '', 1],
    ['cat /tmp/kept', '1\n'],
  ],
  'posix mode': [
    ['set -o posix; cd /tmp', ''],
    ['[[ -o posix ]] && pwd', '/tmp\n'],
    ['set +o posix', ''],
    ['[[ -o posix ]] || pwd', '/tmp\n'],
    ['export POSIXLY_CORRECT=1', ''],
    ['[[ -o posix ]] && pwd; unset POSIXLY_CORRECT', '/tmp\n'],
    ['[[ -o posix ]] || pwd', '/tmp\n'],
  ],
  shopt: [
    ['shopt -s nullglob globstar; shopt -u sourcepath', ''],
    ['echo none*; shopt -q globstar && ! shopt -q sourcepath && echo kept', '\nkept\n'],
    ['shopt -u ${BASHOPTS//:/ }; set +o braceexpand', ''],
    ['echo "<$BASHOPTS>" {a,b}', '<> {a,b}\n'],
    ['shopt -s nullglob; set -o braceexpand', ''],
    ['shopt -p nullglob extquote; echo {a,b}', 'shopt -s nullglob\nshopt -u extquote\na b\n'],
  ],
  'set -x and set -v, which trace nothing of ours to standard output': [
    ['set -xv', ''],
    ['echo hi', 'hi\n'],
    ['set +xv', ''],
  ],
}

for (const [what, script] of Object.entries(stays)) test(`a session keeps ${what}`, () => follow(script))

const holds: Readonly<Record<string, Script>> = {
  'functions with the names of what a shell is made of': [
    [
      'for name in cd eval read printf trap exit declare set shopt alias exec unset export pwd test; do ' +
        'builtin eval "$name() { builtin echo fn-$name; }"; done; builtin cd /tmp; builtin export W=1',
      '',
    ],
    [
      'echo $W; cd; read; printf; trap; exit; set; exec',
      '1\nfn-cd\nfn-read\nfn-printf\nfn-trap\nfn-exit\nfn-set\nfn-exec\n',
    ],
    ['builtin pwd; (builtin exit 3)', '/tmp\n', 3],
  ],
  'aliases with the names of what a shell is made of': [
    ['alias cd=false builtin=false eval=false exit=false printf=false; \\cd /tmp', ''],
    ['\\pwd; cd', '/tmp\n', 1],
    ['unalias -a', ''],
    ['cd /usr; pwd', '/usr\n'],
  ],
  'read-only variables': [
    ['declare -rx R=1 IFS=: LC_ALL=C REPLY=x TMOUT=1; cd /tmp', ''],
    ['pwd; echo $R $REPLY $LC_ALL; R=2; echo no', '/tmp\n1 x C\n', 1],
    ['echo "$R$IFS"', '1:\n'],
    ['declare -rx lazaret=y', '', 1],
    ['echo $R', '1\n'],
  ],
  'a TMOUT that is short': [
    ['export TMOUT=0.001', ''],
    ['echo $TMOUT', '0.001\n'],
    ['echo $TMOUT', '0.001\n'],
  ],
  'an IFS of digits, and locales that are not there': [
    ['export IFS=0123456789 LC_ALL=xx_YY.UTF-8 2>/dev/null', ''],
    ['echo "$IFS $LC_ALL"; cd /tmp', '0123456789 xx_YY.UTF-8\n'],
    ['pwd', '/tmp\n'],
  ],
  'files that shells would read when they start': [
    [
      'echo "echo read" > /tmp/rc; export BASH_ENV=/tmp/rc ENV=/tmp/rc PROMPT_COMMAND="echo prompt" PS1=x',
      '',
    ],
    ['echo 1', '1\n'],
    ['bash -c :', 'read\n'],
  ],
  'traps, which are a command’s own': [
    [
      `trap '' TERM; trap 'echo bye' EXIT; trap 'echo err' ERR; trap 'echo debug' DEBUG; cd /tmp`,
      'debug\nbye\n',
    ],
    ['pwd; false', '/tmp\n', 1],
    ['trap "" INT; kill -INT $$; echo alive', 'alive\n'],
  ],
  'an end of its own choice': [
    ['export A=1; cd /tmp', ''],
    ['export A=2; exec echo replaced', 'replaced\n'],
    ['echo $A; pwd', '1\n/tmp\n'],
    ['exec no-such-program', '', 127],
    ['exec 1>&2; echo err', ''],
    ['echo $A', '1\n'],
  ],
  'options with which a shell does nothing': [
    ['export A=1; set -t', ''],
    ['echo $A; echo 2', '1\n2\n'],
    ['set -n', ''],
    ['echo 3', '3\n'],
  ],
  'words that end nothing': [
    ['cd /tmp; return', '', 2],
    ['break; continue; pwd', '/tmp\n'],
    ['export A=1; if', '', 2],
    ['echo "${A-unset}"; pwd', 'unset\n/tmp\n'],
    ['f() {', '', 2],
    ['pwd', '/tmp\n'],
  ],
}

for (const [what, script] of Object.entries(holds)) test(`a session survives ${what}`, () => follow(script))

test('if a state is too long, functions stay as they were, and the rest is kept', async () => {
  await follow([
    ['f() { echo old; }', ''],
    ['x=$(head -c 2000000 /dev/zero | tr "\\0" x); eval "f() { : $x; }"; cd /tmp; export A=1; set -u', ''],
    ['pwd; echo $A; f; [[ -o nounset ]]', '/tmp\n1\nold\n'],
  ])
})

test('a long state is kept', async () => {
  await follow([
    ['x=$(head -c 500000 /dev/zero | tr "\\0" x); eval "f() { echo f; : $x; }"; export A=1', ''],
    ['f', 'f\n'],
    ['f; echo $A', 'f\n1\n'],
  ])
})

test('a removed folder is reported once; then the session is in its first folder', async () => {
  const session = await sandbox.createSession({ cwd: '/usr' })
  await session.exec('mkdir /tmp/removed; cd /tmp/removed; rm -r /tmp/removed; export A=1')
  assert.equal(session.cwd, '/tmp/removed')
  const { exitCode, stderr } = await session.exec('rm -rf ./*')
  assert.deepEqual([exitCode, stderr], [1, 'Failed to change directory to /tmp/removed\n'])
  assert.equal((await session.exec('pwd; echo $A')).stdout, '/usr\n1\n')
})

async function follow(script: Script): Promise<void> {
  const session = await sandbox.createSession()
  for (const [command, stdout, exitCode = 0] of script) {
    const result = await session.exec(command)
    assert.equal(result.stdout, stdout, `${command} printed ${result.stderr}`)
    assert.equal(result.exitCode, exitCode, `${command} printed ${result.stderr}`)
  }
  await sandbox.deleteSession(session.id)
}

test('set variables are kept if the next command fails because of Lazaret', async () => {
  await sandbox.setEnvVars({ STILL: 'set' })
  const failing = () => {
    throw new Error('of the caller')
  }
  await assert.rejects(sandbox.exec('echo', { onOutput: failing }), /of the caller/)
  assert.equal((await sandbox.exec('echo "$STILL"')).stdout, 'set\n')
  await sandbox.setEnvVars({ STILL: undefined })
})
