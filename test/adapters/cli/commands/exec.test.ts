/** One command in its own sandbox, from the command line to the exit code. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { whyNoSandboxes } from '../../../support/sandboxes-here.ts'
import { WithoutLayers } from '../../../support/hosts/without-layer.ts'
import { mainPath, runCli } from '../spawn-cli.ts'
import { untilShown } from '../../../support/patient-run.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const noSandboxes = await whyNoSandboxes()

test('one word is a command line for bash; several words are passed on unchanged', async () => {
  assert.equal((await runCli(['exec', '--', 'printf abc | wc -c'])).stdout.trim(), '3')
  assert.equal((await runCli(['exec', '--', 'printf', '%s|', 'a  b', '$HOME'])).stdout, 'a  b|$HOME|')
  assert.equal((await runCli(['exec', '--', 'echo ${BASH##*/}'])).stdout, 'bash\n')
})

test('lazaret exits like the command, with its exit code or by its signal', async () => {
  const exitCodeOf = async (command: string) => (await runCli(['exec', '--', command])).exitCode
  assert.equal(await exitCodeOf('exit 42'), 42)
  assert.equal(await exitCodeOf('no-such-command'), 127)
  const { exitCode, stdout, stderr } = await runCli(['exec', '--', 'echo before; kill -SEGV $$'])
  assert.deepEqual([exitCode, stdout], [139, 'before\n'])
  assert.match(stderr, /lazaret: killed by SIGSEGV, exit 139\n$/)
})

test('bytes pass unchanged through a pipe, on their own stream', async () => {
  const { stdout, stderr } = await runCli(['exec', '--', String.raw`printf '\033]0;t\007'; echo oops >&2`])
  assert.equal(stdout, '\x1b]0;t\x07')
  assert.equal(stderr, 'oops\n')
})

test('files and standard input reach the command', async () => {
  await using folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'a.txt'), 'from a file')
  const surroundings = { cwd: folder.path, input: 'passed on' }
  const { stdout } = await runCli(
    ['exec', '--file', 'a.txt', '--stdin', '-', '--', 'cat a.txt -'],
    surroundings,
  )
  assert.equal(stdout, 'from a filepassed on')
  assert.equal((await runCli(['exec', '--', 'cat'], { input: 'kept back' })).stdout, '')
})

test('processes that the command leaves behind neither delay lazaret nor outlive it', async () => {
  const { exitCode, stdout } = await runCli(['exec', '--', 'sleep 1000 & echo done'])
  assert.deepEqual([exitCode, stdout], [0, 'done\n'])
})

test('a command has no time limit unless an option or the configuration sets one', async () => {
  await using folder = await createTemporaryFolder()
  const configure = (config: object) =>
    writeFile(join(folder.path, 'lazaret.config.json'), JSON.stringify(config))
  const endless = (...flags: string[]) =>
    runCli(['exec', ...flags, '--', 'echo before; while :; do :; done'], { cwd: folder.path })
  const { seen: named } = await untilShown(
    (timeoutMs) => endless('--timeout', `${timeoutMs}ms`),
    ({ seen }) => seen.stdout !== '',
  )
  assert.deepEqual([named.exitCode, named.stdout], [124, 'before\n'])
  assert.match(named.stderr, /^lazaret: timed out after (500 ms|\d s) \(wall\)\. Raise --timeout/m)
  await configure({ defaults: { wallMs: 400 } })
  assert.match((await endless()).stderr, /timed out after 400 ms/)
  await configure({ ceilings: { wallMs: 500 } })
  assert.match((await endless()).stderr, /timed out after 500 ms \(wall\)\. That is the operator's ceiling/)
  const { stderr } = await endless('--timeout', '60s')
  assert.match(stderr, /^lazaret: lowered to the configured ceiling: wallMs\.$/m)
  assert.match(stderr, /timed out after 500 ms/)
  assert.match((await runCli(['exec', '--help'])).stdout, /--timeout <duration> .*\(default none\)/)
})

test('a ceiling lowers the limits of the sandbox, and this is reported', async () => {
  await using folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'lazaret.config.json'), '{"ceilings":{"diskBytes":65536}}')
  const args = ['exec', '--disk', '1MiB', '--', 'head -c 100000 /dev/zero > file; stat -c %s file']
  const { stdout, stderr } = await runCli(args, { cwd: folder.path })
  assert.equal(stdout, '65536\n', stderr)
  assert.match(stderr, /^lazaret: lowered to the configured ceiling: diskBytes\.$/m)
})

test('limits that are not set are those of a sandbox', async () => {
  // Files may take at most half of the memory, so with the 512 MiB of a run this would be refused.
  const { stderr } = await runCli(['exec', '--disk', '400MiB', '--', 'true'])
  assert.equal(stderr, '')
  assert.match((await runCli(['exec', '--help'])).stdout, /--disk <size> [^]*\(default 2\s+GiB\)/)
})

test('output beyond its limit is dropped and reported, and the command continues', async () => {
  const command = 'yes | head -c 100000; exit 7'
  const { exitCode, stdout, stderr } = await runCli(['exec', '--output', '1KiB', '--', command])
  assert.deepEqual([exitCode, stdout.length], [7, 1024])
  assert.match(stderr, /^lazaret: cut short at its limit: stdout\.$/m)
})

test('a command that uses too much memory is ended, and the message names the option', async () => {
  const greedy = 'x=a; while :; do x=$x$x; done'
  const args = ['exec', '--memory', '64MiB', '--disk', '16MiB', '--', greedy]
  const { exitCode, stderr } = await runCli(args)
  assert.equal(exitCode, 137, stderr)
  assert.match(stderr, /^lazaret: out of memory at 64 MiB\. Raise --memory/m)
})

test('with --json the only output is one document, the result of the command', async () => {
  const { exitCode, stdout, stderr } = await runCli([
    'exec',
    '--json',
    '--',
    'echo out; echo err >&2; exit 3',
  ])
  assert.deepEqual([exitCode, stderr], [3, ''])
  const { id, receipt, duration, timestamp, isolation, usage, ...rest } = JSON.parse(stdout)
  assert.deepEqual(rest, {
    success: false,
    exitCode: 3,
    stdout: 'out\n',
    stderr: 'err\n',
    command: 'echo out; echo err >&2; exit 3',
    outcome: { kind: 'completed', exitCode: 3 },
    truncated: [],
    touched: [],
  })
  assert.deepEqual([typeof duration, typeof timestamp, usage.outputBytes], ['number', 'string', 8])
  assert.deepEqual([isolation.space, isolation.network, typeof id], ['user', 'none', 'string'])
  assert.equal(receipt.protection, isolation.level)
})

test('--variable sets a variable that is not a credential', async () => {
  const flags = ['--variable', 'PLAIN=a b', '--variable', 'EMPTY=']
  const { stdout } = await runCli(['exec', ...flags, '--json', '--', 'echo "$PLAIN${EMPTY-unset}"'])
  const { stdout: printed, isolation } = JSON.parse(stdout)
  assert.deepEqual([printed, isolation.space, isolation.note], ['a b\n', 'user', undefined])
  const wrong = await runCli(['exec', '--variable', 'NOTHING', '--', 'true'])
  assert.equal(wrong.exitCode, 64)
  assert.match(wrong.stderr, /--variable NOTHING: not of the form KEY=VALUE/)
})

test('nothing of the environment of lazaret reaches the command', async () => {
  const { stdout } = await runCli(['exec', '--', 'env'], { env: { LAZARET_TEST_SECRET: 'x' } })
  assert.match(stdout, /^PATH=/m)
  assert.doesNotMatch(stdout, /LAZARET_TEST_SECRET/)
})

test(
  'with --env the command is alone with these variables and an empty home',
  { skip: noSandboxes },
  async () => {
    await using folder = await createTemporaryFolder()
    await writeFile(join(folder.path, '.netrc'), 'planted')
    const flags = ['--file', '.netrc', '--env', 'TOKEN=a $(id) "b', '--env', 'EMPTY=']
    const command = 'env; ls -A "$HOME" | wc -l; ls -A; echo kept > report'
    const args = ['exec', ...flags, '--json', '--collect', 'report', '--', command]
    const { stdout, stderr } = await runCli(args, { cwd: folder.path })
    const result = JSON.parse(stdout)
    assert.equal(result.isolation.space, 'secure', stderr)
    const lines = result.stdout.trimEnd().split('\n')
    const names = lines.slice(0, -2).map((line: string) => line.slice(0, line.indexOf('=')))
    assert.deepEqual(names.toSorted(), ['EMPTY', 'HOME', 'LANG', 'PATH', 'TERM', 'TOKEN', 'TZ', '_'])
    assert.ok(lines.includes('TOKEN=a $(id) "b'))
    assert.deepEqual(lines.slice(-2), ['0', '.netrc'])
    assert.deepEqual(Object.keys(result.files), ['report'])
  },
)

test('without namespaces it runs only if that is accepted, and credentials need another option', async () => {
  using without = new WithoutLayers()
  // Guests get the folders of the toolchains after a search for sockets. A Python in somebody's home may be large.
  const env = { PATH: '/usr/bin:/bin' }
  const run = (...args: string[]) =>
    without.run(['user-namespaces'], [process.execPath, mainPath, 'exec', ...args], { env })
  const exec = (...args: string[]) => run('--minimum', 'restricted', ...args)
  const unaccepted = await run('--network', 'host', '--', 'echo ran')
  assert.deepEqual([unaccepted.exitCode, unaccepted.stdout], [69, ''])
  assert.match(unaccepted.stderr.replaceAll(/\s+/g, ' '), /`--minimum restricted`/)
  const plain = await exec('--network', 'host', '--', 'echo ran')
  assert.deepEqual([plain.exitCode, plain.stdout, plain.stderr], [0, 'ran\n', ''])

  const refused = await exec('--env', 'TOKEN=x', '--', 'echo ran')
  assert.deepEqual([refused.exitCode, refused.stdout], [69, ''])
  assert.match(refused.stderr, /accept it with --allow-degraded-secrets\.\n$/)
  const accepted = await exec('--allow-degraded-secrets', '--env', 'TOKEN=x', '--', 'echo $TOKEN')
  assert.deepEqual([accepted.exitCode, accepted.stdout], [0, 'x\n'])
})
