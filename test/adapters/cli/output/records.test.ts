/** `lazaret keys`, `receipt` and `audit`: what they create, find and print. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const program = ['run', '-l', 'shell', '-e', 'exit 3', '--json']

test('keys are made, runs are signed and recorded as the configuration says, and both are checked', async () => {
  await using folder = await createTemporaryFolder()
  const at = (name: string) => join(folder.path, name)
  const cwd = folder.path
  const made = await runCli(['keys', 'create', 'key.pem'], { cwd })
  assert.match(made.stdout, /^private key key\.pem\npublic key {2}key\.pem\.pub\nkey id {6}[0-9a-f]{64}\n$/)
  assert.equal((await stat(at('key.pem'))).mode & 0o777, 0o600)
  const again = await runCli(['keys', 'create', 'key.pem'], { cwd })
  assert.deepEqual([again.exitCode, /exists/.test(again.stderr)], [64, true])

  const config = { audit: { file: 'audit.jsonl' }, receipts: { privateKeyFile: 'key.pem' } }
  await writeFile(at('config.json'), JSON.stringify(config))
  for (let run = 0; run < 2; run++) {
    const ran = await runCli([...program, '--config', 'config.json'], { cwd })
    assert.equal(ran.exitCode, 3, ran.stderr)
    await writeFile(at('result.json'), ran.stdout)
  }

  const verify = ['receipt', 'verify', 'result.json', '--key', 'key.pem.pub']
  const valid = await runCli(verify, { cwd })
  assert.deepEqual([valid.exitCode, /^valid: run \S+, completed, ended /.test(valid.stdout)], [0, true])
  const result = await readFile(at('result.json'), 'utf8')
  const piped = await runCli(['receipt', 'verify', '-', '--key', 'key.pem.pub'], { cwd, input: result })
  assert.deepEqual(piped, valid)
  await writeFile(at('result.json'), result.replaceAll('"exitCode":3', '"exitCode":0'))
  const forged = await runCli([...verify, '--json'], { cwd })
  assert.deepEqual(
    [forged.exitCode, (JSON.parse(forged.stdout) as { isValid: boolean }).isValid],
    [65, false],
  )

  const audit = ['audit', 'verify', 'audit.jsonl', '--key', 'key.pem.pub']
  const intact = await runCli(audit, { cwd })
  assert.equal(intact.exitCode, 0)
  const [first = '', second, last = ''] = intact.stdout.split('\n')
  assert.deepEqual([first, second], ['intact: 2 records', '  2 signatures checked'])
  const noted = last.split(', ')[1] ?? ''
  const log = await readFile(at('audit.jsonl'), 'utf8')
  await writeFile(at('audit.jsonl'), log.slice(log.indexOf('\n') + 1))
  const changed = await runCli([...audit, '--includes', noted], { cwd })
  assert.deepEqual(
    [changed.exitCode, changed.stdout.split('\n').slice(0, 3)],
    [
      65,
      [
        'NOT intact: 1 record',
        '  1 signature checked',
        '  line 1: record 2 is not the first record: 1 missing',
      ],
    ],
  )
})

test('an unreadable file is named, with exit code 64', async () => {
  await using folder = await createTemporaryFolder()
  const cwd = folder.path
  await writeFile(join(cwd, 'x'), 'x')
  for (const [args, pattern] of [
    [['audit', 'verify', 'none'], /cannot read none: no such file/],
    [['audit', 'verify', '.'], /cannot read \./],
    [
      ['audit', 'verify', 'x', '--key', 'x'],
      /cannot use x: The key is not a public key in PEM\.\n {2}Name the public key/,
    ],
    [['receipt', 'verify', 'x'], /--key/],
    [['receipt', 'verify', 'x', '--key', 'none'], /cannot read none/],
    [['keys', 'create', 'no/such/folder'], /cannot write no\/such\/folder/],
  ] as const) {
    const { exitCode, stderr } = await runCli(args, { cwd })
    assert.equal(exitCode, 64, args.join(' '))
    assert.match(stderr, pattern)
  }
})

test('the log contains the outcome of a snippet, but not its text', async () => {
  await using folder = await createTemporaryFolder()
  const config = join(folder.path, 'config.json')
  const file = join(folder.path, 'audit.jsonl')
  await writeFile(config, JSON.stringify({ audit: { file } }))
  const marker = 'MARKER-ba5eba11'
  const snippet = (source: string) =>
    runCli(['snippet'], {
      env: { LAZARET_CONFIG: config },
      input: JSON.stringify({ source, input: marker, limits: { wall_ms: 1000 } }),
    })
  assert.equal((await snippet(`emit(read_input())`)).stdout, `{"output":"${marker}"}\n`)
  assert.equal((await snippet(`throw new Error('${marker}')`)).exitCode, 1)
  assert.equal((await snippet('for (;;);')).exitCode, 1)
  const text = await readFile(file, 'utf8')
  const statements = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { statement: Record<string, unknown> }).statement)
  assert.deepEqual(
    statements.map(({ kind, runtime, outcome }) => [kind, runtime, outcome]),
    [
      ['run', 'snippet', 'completed'],
      ['run', 'snippet', 'failed'],
      ['run', 'snippet', 'timed-out'],
    ],
  )
  assert.ok(!text.includes(marker))
  assert.equal((await runCli(['audit', 'verify', file])).exitCode, 0)
  await writeFile(config, JSON.stringify({ audit: { file: folder.path } }))
  const refused = await snippet('emit(1)')
  assert.deepEqual([refused.stdout, /"AUDIT_FAILED"/.test(refused.stderr)], ['', true])
})

test('keys that cannot be written leave no public key behind', async () => {
  await using folder = await createTemporaryFolder()
  const taken = join(folder.path, 'taken.pem')
  await writeFile(taken, 'mine')
  const { exitCode, stderr } = await runCli(['keys', 'create', taken])
  assert.deepEqual([exitCode, /taken\.pem: file already exists/.test(stderr)], [64, true])
  assert.deepEqual(await readdir(folder.path), ['taken.pem'])
  assert.equal(await readFile(taken, 'utf8'), 'mine')
})
