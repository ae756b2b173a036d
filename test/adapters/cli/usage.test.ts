import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { mainPath, runCli } from './spawn-cli.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

test('the version is the one of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.deepEqual(await runCli(['--version']), { exitCode: 0, stdout: `${version}\n`, stderr: '' })
})

test('every command explains itself with an example', async () => {
  for (const command of [['run'], ['exec'], ['doctor'], []]) {
    const { exitCode, stdout, stderr } = await runCli([...command, '--help'])
    assert.equal(exitCode, 0)
    assert.equal(stderr, '')
    assert.match(stdout, /Examples?:\n {2}lazaret /)
  }
})

test('without a command, the help is printed to standard error', async () => {
  const { exitCode, stdout, stderr } = await runCli([])
  assert.equal(exitCode, 64)
  assert.equal(stdout, '')
  assert.match(stderr, /Usage: lazaret/)
})

test('an error in the command line is answered with a hint, exit code 64 and no stack', async () => {
  const mistakes: [string[], RegExp][] = [
    [['fly'], /unknown command 'fly'/],
    [['run', '--quickly', 'a.py'], /unknown option '--quickly'/],
    [['run'], /nothing to run/],
    [['run', 'notes.txt'], /notes\.txt names no language[^]*--language/],
    [['run', '-e', '1'], /language of --eval is not known/],
    [['run', 'none.py'], /cannot read none\.py: no such file or directory/],
    [['run', '-l', 'cobol', '-e', '1'], /cobol[^]*javascript, typescript, python, shell/],
    [['run', '--timeout', '5', 'a.py'], /--timeout[^]*500ms, 5s/],
    [['run', '--memory', 'much', 'a.py'], /--memory[^]*64MiB/],
    [['run', '--processes', '0', 'a.py'], /--processes[^]*whole number/],
    [['run', '-l', 'shell', '-e', ':', '--env', 'X'], /--env X[^]*KEY=VALUE/],
    [['run', '-l', 'shell', '-e', ':', '--input', '{'], /--input is not JSON/],
    [['run', '-l', 'shell', '-e', ':', '--file', 'none'], /--file none/],
    [['run', '-l', 'shell', '-e', ':', '--config', 'none.json'], /none\.json/],
    [['exec'], /no command given/],
    [['exec', '--', ''], /no command given/],
    [['exec', '--input', '1', '--', ':'], /unknown option '--input'/],
    [['exec', '--cpu', '1s', '--', ':'], /unknown option '--cpu'/],
    [['exec', '--client', 'me', '--', ':'], /unknown option '--client'/],
    [['exec', '--env', 'X', '--', ':'], /--env X[^]*KEY=VALUE/],
    [['exec', '--env', '1X=y', '--', ':'], /Invalid environment variable name: "1X"/],
    [['exec', '--json=no', '--', ':'], /--json/],
    [['doctor', 'now'], /too many arguments/],
  ]
  for (const [args, pattern] of mistakes) {
    const { exitCode, stdout, stderr } = await runCli(args)
    const name = args.join(' ')
    assert.equal(exitCode, 64, name)
    assert.equal(stdout, '', name)
    assert.match(stderr, pattern, name)
    assert.match(stderr, /^lazaret: .+\n {2}.+\n$/, name)
  }
})

test('with --json an error is one document on standard output', async () => {
  for (const args of [
    ['run', '--json'],
    ['run', '--json', '--quickly'],
    ['run', '--quickly', '--json'],
  ]) {
    const { exitCode, stdout, stderr } = await runCli(args)
    assert.equal(exitCode, 64)
    assert.equal(stderr, '')
    const { error } = JSON.parse(stdout)
    assert.deepEqual(Object.keys(error), ['code', 'kind', 'message', 'hint', 'retryable'])
    assert.equal(error.code, 'INVALID_REQUEST')
  }
})

test('the error for a misspelt key in the configuration names the file', async () => {
  await using folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'lazaret.config.json'), '{"celings":{}}')
  for (const args of [['doctor'], ['exec', '--', 'true']]) {
    const { exitCode, stderr } = await runCli(args, { cwd: folder.path })
    assert.equal(exitCode, 64)
    assert.match(stderr, /lazaret\.config\.json: .*celings/)
  }
})

test('without a terminal, nothing is coloured', async () => {
  const { stderr } = await runCli(['fly'])
  assert.equal(stderr.includes('\u001b'), false)
})

test('in a removed folder each command reports that, with a hint', async () => {
  for (const args of [['run', '-l', 'shell', '-e', ':'], ['exec', '--', ':'], ['snippet'], ['doctor']]) {
    await using folder = await createTemporaryFolder()
    const removed = join(folder.path, 'gone')
    await mkdir(removed)
    const child = spawn(
      'bash',
      ['-c', 'rmdir "$PWD"; exec "$@"', 'bash', process.execPath, mainPath, ...args],
      {
        cwd: removed,
      },
    )
    child.stdin.on('error', () => undefined).end()
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
    assert.equal(exitCode, 64, args[0])
    assert.match(stderr, /current folder no longer exists[^]*cd /)
  }
})

test('the help describes the disk limit of a command as it is enforced', async () => {
  assert.match((await runCli(['exec', '--help'])).stdout, /a quarter\s+as\s+much\s+in\s+\/tmp/)
  assert.match((await runCli(['run', '--help'])).stdout, /as\s+much\s+again\s+in\s+\/tmp/)
})
