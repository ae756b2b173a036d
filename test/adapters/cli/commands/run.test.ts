/** The command as users see it: real runs, from the command line to the exit code. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../spawn-cli.ts'
import { untilShown } from '../../../support/patient-run.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const javascript = ['run', '-l', 'javascript']
const python = ['run', '-l', 'python']
const shell = ['run', '-l', 'shell']

test('the value is printed on standard output as the language prints it', async () => {
  const ends = await Promise.all([
    runCli([...javascript, '-e', "({ a: [1, 'x'] })"]),
    runCli(['run', '-l', 'typescript', '-e', 'const n: number = 2; n + 1']),
    runCli([...python, '-e', "{'a': True}"]),
  ])
  assert.deepEqual(
    ends.map(({ exitCode, stdout }) => ({ exitCode, stdout: stdout.replaceAll(/["']/g, "'") })),
    [
      { exitCode: 0, stdout: "{ a: [ 1, 'x' ] }\n" },
      { exitCode: 0, stdout: '3\n' },
      { exitCode: 0, stdout: "{'a': True}\n" },
    ],
  )
})

test('undefined and None are not printed, null is', async () => {
  const { stdout } = await runCli([...javascript, '-e', "console.log('hi')"])
  assert.equal(stdout, 'hi\n')
  assert.equal((await runCli([...python, '-e', "print('hi')"])).stdout, 'hi\n')
  assert.equal((await runCli([...javascript, '-e', 'null'])).stdout, 'null\n')
})

test('all words after the file are arguments of the program', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'args.sh')
  await writeFile(path, 'printf "%s|" "$@"')
  const { stdout } = await runCli(['run', path, '--json', '-l', '--', 'a b', '--help'])
  assert.equal(stdout, '--json|-l|--|a b|--help|')
})

test('the program may come from standard input, or read it', async () => {
  assert.equal((await runCli([...python, '-'], { input: '6 * 7' })).stdout, '42\n')
  assert.equal(
    (await runCli([...shell, '--stdin', '-', '-e', 'cat'], { input: 'passed on' })).stdout,
    'passed on',
  )
  assert.equal((await runCli([...shell, '-e', 'cat'], { input: 'kept back' })).stdout, '')
})

test('input, variables and a folder of files reach the program', async () => {
  await using folder = await createTemporaryFolder()
  await mkdir(join(folder.path, 'data', 'deep'), { recursive: true })
  await writeFile(join(folder.path, 'data', 'deep', 'a.txt'), 'from a file')
  const code = "import os; print(open('data/deep/a.txt').read(), os.environ['NAME'], input_data['n'])"
  const flags = ['--file', 'data', '--env', 'NAME=a=b', '--input', '{"n": 5}']
  const { stdout, stderr } = await runCli([...python, ...flags, '-e', code], { cwd: folder.path })
  assert.equal(stdout, 'from a file a=b 5\n', stderr)
})

test('bytes pass unchanged through a pipe, on their own stream', async () => {
  const code = String.raw`printf '\033]0;t\007'; echo oops >&2`
  const { stdout, stderr } = await runCli([...shell, '-e', code])
  assert.equal(stdout, '\x1b]0;t\x07')
  assert.equal(stderr, 'oops\n')
})

test('the exit code of the program is the exit code of the command', async () => {
  const { exitCode, stdout, stderr } = await runCli([...shell, '-e', 'exit 42'])
  assert.deepEqual({ exitCode, stdout, stderr: stderr }, { exitCode: 42, stdout: '', stderr: '' })
})

test('an uncaught error is shown once, with the line of the program, and ends with 1', async () => {
  for (const args of [
    [...javascript, '-e', '\nnull.x'],
    [...python, '-e', '\n1 / 0'],
  ]) {
    const { exitCode, stdout, stderr } = await runCli(args)
    assert.equal(exitCode, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /lazaret: failed: (TypeError|ZeroDivisionError): .+ \(<code>:2(:\d+)?\), exit 1\n$/)
    assert.doesNotMatch(stderr, /\/src\/|file:\/\//)
  }
})

test('code that does not parse ends with 65 and names the line', async () => {
  for (const args of [
    [...javascript, '-e', '\nlet = ;'],
    [...python, '-e', '\ndef'],
  ]) {
    const { exitCode, stderr } = await runCli(args)
    assert.equal(exitCode, 65, stderr)
    assert.match(stderr, /lazaret: not valid code: SyntaxError: .+ \(<code>:2/)
  }
})

test('a limit that ended the run is named with its option, and what was printed before is kept', async () => {
  const code = 'echo before; while :; do :; done'
  const { seen: slow } = await untilShown(
    (timeoutMs) => runCli([...shell, '--timeout', `${timeoutMs}ms`, '-e', code]),
    ({ seen }) => seen.stdout !== '',
  )
  assert.equal(slow.exitCode, 124)
  assert.equal(slow.stdout, 'before\n')
  assert.match(slow.stderr, /^lazaret: timed out after (500 ms|\d s) \(wall\)\. Raise --timeout/m)

  const loud = await runCli([...shell, '--output', '1KiB', '-e', 'yes'])
  assert.equal(loud.exitCode, 125)
  assert.equal(loud.stdout.length, 1_024)
  assert.match(loud.stderr, /^lazaret: over its limit of 1 KiB of output\. Raise --output/m)

  const greedy = [
    '--memory',
    '64MiB',
    '--disk',
    '16MiB',
    '-e',
    'a = []\nwhile True: a.append(b"x" * 4_000_000)',
  ]
  const large = await runCli([...python, ...greedy])
  assert.equal(large.exitCode, 137, large.stderr)
  assert.match(large.stderr, /^lazaret: out of memory at 64 MiB\. Raise --memory/m)
})

test('a signal that the program sent itself is named', async () => {
  const { exitCode, stderr } = await runCli([...shell, '-e', 'kill -SEGV $$'])
  assert.equal(exitCode, 139)
  assert.match(stderr, /lazaret: killed by SIGSEGV/)
})

test('with --json the result is one document, its value tagged, and standard error is empty', async () => {
  const { exitCode, stdout, stderr } = await runCli([
    ...javascript,
    '--json',
    '-e',
    "console.log('\\u001b[31mred\\u009b'); new Map([[1, 2n]])",
  ])
  assert.equal(exitCode, 0)
  assert.equal(stderr, '')
  assert.deepEqual(stdout.match(/[^\n -~]/g), null)
  const result = JSON.parse(stdout)
  assert.equal(result.outcome.kind, 'completed')
  assert.deepEqual(result.value, { $type: 'Map', value: [[1, { $type: 'BigInt', value: '2' }]] })
  assert.equal(result.stdout, '\u001b[31mred\u009b\n')
  assert.deepEqual(result.files, {})
  assert.equal(result.receipt.runtime, 'bun')
})

test('with --json a refusal is one document, too', async () => {
  const { exitCode, stdout } = await runCli([...python, '--json', '--runtime', 'shell', '-e', '1'])
  assert.equal(exitCode, 64)
  assert.equal(JSON.parse(stdout).error.kind, 'refusal')
})

test('a flag overrides the configuration, and a ceiling lowers the flag with a message', async () => {
  await using folder = await createTemporaryFolder()
  const config = { defaults: { wallMs: 400 }, ceilings: { processesMax: 16 } }
  await writeFile(join(folder.path, 'lazaret.config.json'), JSON.stringify(config))
  const run = async (...flags: string[]) =>
    JSON.parse((await runCli([...shell, '--json', ...flags, '-e', 'true'], { cwd: folder.path })).stdout)
      .receipt
  assert.equal((await run()).limits.wallMs.value, 400)
  assert.equal((await run('--timeout', '5s')).limits.wallMs.value, 5_000)
  const { limits, clamped } = await run('--processes', '32')
  assert.equal(limits.processesMax.value, 16)
  assert.deepEqual(clamped, ['processesMax'])
})

test('nothing of the environment of the command reaches the program', async () => {
  const { stdout } = await runCli([...shell, '-e', 'env'], { env: { LAZARET_TEST_SECRET: 'x' } })
  assert.match(stdout, /^PATH=/m)
  assert.doesNotMatch(stdout, /LAZARET_TEST_SECRET/)
})
