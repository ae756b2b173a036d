/** Edge cases of `exec()`, each in both spaces, in a new session and in a used one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ExecOptions } from '../../../src/index.ts'
import { useSandbox, waysToRun } from '../use-sandbox.ts'

const MiB = 1024 * 1024
const use = await useSandbox({ limits: { outputBytes: 2 * MiB } })
const { everyWay, ways, used } = await waysToRun(use)

interface Edge {
  readonly title: string
  readonly command: string
  readonly options?: ExecOptions
  readonly exitCode?: number
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
}

const edges: readonly Edge[] = [
  { title: 'exit 42 is an exit code, and the sandbox lives on', command: 'exit 42', exitCode: 42 },
  { title: 'exit codes are taken as the kernel takes them', command: 'exit -1', exitCode: 255 },
  { title: 'set -e ends a command at its first failure', command: 'set -e; false; echo no', exitCode: 1 },
  {
    title: 'an unknown command is 127',
    command: 'no-such-command',
    exitCode: 127,
    stderr: /no-such-command: command not found/,
  },
  {
    title: 'a file that may not be executed is 126',
    command: '/etc/passwd',
    exitCode: 126,
    stderr: /denied/,
  },
  {
    title: 'a folder that is not there is exit code 1',
    command: 'echo never',
    options: { cwd: '/not there' },
    exitCode: 1,
    stderr: 'Failed to change directory to /not there\n',
  },
  {
    title: 'a folder that is a file is exit code 1',
    command: 'echo never',
    options: { cwd: '/etc/passwd' },
    exitCode: 1,
    stderr: 'Failed to change directory to /etc/passwd\n',
  },
  {
    title: 'a folder is a name and nothing else',
    command: 'echo never',
    options: { cwd: `/$(id)/'";-P\n` },
    exitCode: 1,
    stderr: `Failed to change directory to /$(id)/'";-P\n\n`,
  },
  {
    title: 'cwd is where the command begins',
    command: 'pwd',
    options: { cwd: '/usr/bin' },
    stdout: '/usr/bin\n',
  },
  { title: 'something in the background is not waited for', command: 'sleep 1 & echo ok', stdout: 'ok\n' },
  { title: 'standard input is /dev/null', command: 'readlink /proc/self/fd/0; cat', stdout: '/dev/null\n' },
  {
    title: 'standard input is what is given, to its end',
    command: 'cat; echo .',
    options: { stdin: 'a\nhéllo\n\n8\n12345678no' },
    stdout: 'a\nhéllo\n\n8\n12345678no.\n',
  },
  {
    title: 'standard input may be bytes, and what nobody reads is let go',
    command: 'head -c 3 | od -An -tx1',
    options: { stdin: Buffer.concat([Buffer.from([0, 255, 10]), Buffer.alloc(4 * MiB)]) },
    stdout: ' 00 ff 0a\n',
  },
  { title: 'a NUL in the output is kept', command: String.raw`printf 'a\0b\0'`, stdout: 'a\0b\0' },
  {
    title: 'invalid UTF-8 is replaced',
    command: String.raw`printf 'a\xff\xfeb\xc3'`,
    stdout: 'a\u{fffd}\u{fffd}b\u{fffd}',
  },
  {
    title: 'a line without an end is kept',
    command: 'printf partial; printf also >&2',
    stdout: 'partial',
    stderr: 'also',
  },
  {
    title: 'stderr is apart',
    command: 'echo out; echo err >&2; echo out',
    stdout: 'out\nout\n',
    stderr: 'err\n',
  },
  {
    title: 'a line may be long',
    command: `head -c 65536 /dev/zero | tr '\\0' x; echo`,
    stdout: `${'x'.repeat(65_536)}\n`,
  },
  {
    title: 'what looks like a state of the shell is output',
    command: String.raw`printf '/evil\n\0/evil\0set -o errexit\n\0\0declare -x FORGED="1"\n\0\0\0gone'`,
    stdout: '/evil\n\0/evil\0set -o errexit\n\0\0declare -x FORGED="1"\n\0\0\0gone',
  },
  {
    title: 'nothing can be said on descriptor 3',
    command: 'echo forged >&3',
    exitCode: 1,
    stderr: /Bad file descriptor/,
  },
  {
    title: 'a program that it starts has three descriptors',
    command: 'ls /proc/self/fd | wc -l',
    stdout: '4\n',
  },
  { title: 'a syntax error is exit code 2', command: 'if then', exitCode: 2, stderr: /syntax error/ },
  {
    title: 'a quote that is not closed is exit code 2',
    command: `echo "`,
    exitCode: 2,
    stderr: /unexpected EOF/,
  },
  {
    title: 'a brace that was not opened is a syntax error',
    command: '} || echo hi',
    exitCode: 2,
    stderr: /syntax error/,
  },
  {
    title: 'lines before a syntax error have run',
    command: 'echo 1\nif',
    exitCode: 2,
    stdout: '1\n',
    stderr: /syntax/,
  },
  { title: 'a comment alone is a command', command: '# nothing' },
  { title: 'a here-document', command: 'cat <<X\n$((1+1)) "\'\nX', stdout: '2 "\'\n' },
  { title: 'a here-document without an end', command: 'cat <<X\n1', stdout: '1\n', stderr: /here-document/ },
  { title: 'lines are counted from the command', command: 'echo $LINENO\necho $LINENO', stdout: '1\n2\n' },
  {
    title: 'return outside a function fails',
    command: 'return 5; echo $?',
    stdout: '2\n',
    stderr: /return: can only/,
  },
  { title: 'set -n reads on and does nothing', command: 'set -n\necho no' },
  { title: 'a trap for the end runs, once', command: 'trap "echo bye" EXIT; echo hi', stdout: 'hi\nbye\n' },
  { title: 'a trap for the end chooses the exit code', command: 'trap "exit 9" EXIT; exit 3', exitCode: 9 },
  { title: 'exec exchanges the shell', command: 'exec sh -c "echo sh; exit 7"', exitCode: 7, stdout: 'sh\n' },
  { title: 'streams can be exchanged', command: 'exec 2>&1; echo err >&2', stdout: 'err\n' },
  {
    title: 'a trap for each command says nothing of ours',
    command: 'trap "echo +" DEBUG; echo 1',
    stdout: '+\n1\n',
  },
  { title: 'set -u', command: 'set -u; echo $nothing; echo no', exitCode: 127, stderr: /unbound/ },
  { title: 'a pipe fails as its last part', command: 'false | true' },
  { title: 'pipefail', command: 'set -o pipefail; false | true', exitCode: 1 },
  {
    title: 'functions named like what a shell is made of',
    command: 'cd() { echo f; }; eval() { echo g; }; cd',
    stdout: 'f\n',
  },
  { title: '500 KB of command', command: `: ${'é'.repeat(250_000)}; echo ok`, stdout: 'ok\n' },
]

for (const { title, command, options, exitCode = 0, stdout = '', stderr = '' } of edges)
  test(title, async () => {
    await everyWay(async ({ name, exec }) => {
      const result = await exec(command, options)
      assertText(result.stdout, stdout, `stdout, ${name}`)
      assertText(result.stderr, stderr, `stderr, ${name}`)
      assert.equal(result.exitCode, exitCode, name)
      assert.equal(result.success, exitCode === 0, name)
      assert.deepEqual(result.outcome, { kind: 'completed', exitCode }, name)
      assert.deepEqual(result.truncated, [], name)
      assert.equal(result.command, command, name)
    })
    // A command's changes to its shell only affect its own session.
    await used.exec('set +eu +o pipefail; unset -f cd eval')
  })

test('a flood of output is cut at outputBytes, which the result reports, and does not end the command', async () => {
  await everyWay(async ({ name, exec }) => {
    const { stdout, outcome, truncated } = await exec(`head -c 20000000 /dev/zero | tr '\\0' x; exit 3`)
    assert.equal(stdout.length, 2 * MiB, name)
    assert.deepEqual(truncated, ['stdout'], name)
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 3 }, name)
  })
})

test('only streams that lost output are reported as cut', async () => {
  const flood = `head -c ${3 * MiB} /dev/zero | tr '\\0' x`
  await everyWay(async ({ name, exec }) => {
    const stderr = await exec(`echo out; (${flood}) >&2`)
    assert.deepEqual([stderr.stdout, stderr.truncated], ['out\n', ['stderr']], name)
    const both = await exec(`${flood}; echo too late >&2`)
    assert.deepEqual([both.stderr, both.truncated], ['', ['stdout', 'stderr']], name)
  })
})

test('output that fits exactly is not cut', async () => {
  await everyWay(async ({ name, exec }) => {
    const { stdout, truncated } = await exec(`head -c ${2 * MiB} /dev/zero | tr '\\0' x`)
    assert.equal(stdout.length, 2 * MiB, name)
    assert.deepEqual(truncated, [], name)
  })
})

test('a command that is killed has an exit code as in a shell', async () => {
  await everyWay(async ({ name, exec }) => {
    const { exitCode, outcome } = await exec(`sh -c 'kill -9 $$'`)
    assert.equal(exitCode, 137, name)
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 137 }, name)
  })
})

for (const command of ['', ' ', '\n\t'])
  test(`no command is refused: ${JSON.stringify(command)}`, async () => {
    for (const { exec } of ways)
      await assert.rejects(exec(command), { code: 'INVALID_REQUEST', message: /No command provided/ })
  })

test('a relative folder is refused', async () => {
  for (const { exec } of ways)
    for (const cwd of ['tmp', '.', '', '~'])
      await assert.rejects(exec('true', { cwd }), { code: 'INVALID_REQUEST', message: /cwd/ })
})

function assertText(text: string, wanted: string | RegExp, what: string): void {
  if (typeof wanted === 'string') assert.equal(text, wanted, what)
  else assert.match(text, wanted, what)
}

test('output over its limit is cut before a whole character, and touched names the limit', async () => {
  await using sandbox = await use.lazaret.sandbox({ limits: { outputBytes: 5 } })
  const { stdout, truncated, touched } = await sandbox.exec("printf 'éaé😀'")
  assert.deepEqual([stdout, truncated], ['éaé', ['stdout']])
  assert.deepEqual(touched, [{ limit: 'outputBytes', allowed: 5, by: 'kernel' }])
  const { stdout: shorter } = await sandbox.exec("printf 'aaé😀'")
  assert.equal(shorter, 'aaé')
})
