/** The audit log of a Lazaret: it records work through every door, and only one process at a time writes to it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createAgentExecutor } from '../../src/adapters/agent/index.ts'
import { CheckedPrograms } from '../../src/adapters/mcp/checked-programs.ts'
import { runSnippet } from '../../src/adapters/snippet-tool/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { openEngine } from '../../src/engine/lazaret.ts'
import type { LazaretEvent } from '../../src/index.ts'
import type { Finding } from '../../src/core/validation.ts'
import type { Entry } from '../../src/observe/audit-line.ts'
import { createReceiptKeys, verifyAudit, verifyReceipt } from '../../src/observe/index.ts'
import { checkoutRoot } from '../support/sources/checkout.ts'
import { whyNoSandboxes } from '../support/sandboxes-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-audited-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const marker = 'MARKER-5ca1ab1e'
const noSandboxes = await whyNoSandboxes()

function statementsIn(file: string) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => (JSON.parse(line) as Entry).statement)
}

test(
  'runs, snippets, sandboxes, commands, processes and files are recorded before their callers get the results',
  {
    skip: noSandboxes,
  },
  async () => {
    const file = join(folder, 'all.jsonl')
    await using lazaret = createLazaret({ audit: { file }, onEvent: () => undefined })
    const { id } = await lazaret.run({ language: 'shell', code: `echo ${marker}`, client: 'ada' })
    assert.deepEqual(
      statementsIn(file).map((statement) => [statement.id, statement.outcome, statement.exitCode]),
      [[id, 'completed', 0]],
    )
    await lazaret.run({ language: 'javascript', code: `'${marker}'`, runtime: 'snippet' })
    await runSnippet({ source: `emit('${marker}')` })
    await assert.rejects(lazaret.sandbox({ workspace: '/no/such/folder' }))
    {
      await using sandbox = await lazaret.sandbox()
      await sandbox
        .exec(`echo ${marker} $KEY`, { env: { [marker.replace('-', '_')]: marker } })
        .catch(() => undefined)
      await sandbox.writeFile(`/workspace/${marker}`, marker)
    }
    assert.deepEqual(
      statementsIn(file).map(({ kind }) => kind),
      ['run', 'run', 'run', 'sandbox', 'sandbox', 'command', 'files'],
    )
    assert.ok(!readFileSync(file, 'utf8').includes(marker))
    assert.equal((await verifyAudit(file)).isIntact, true)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  },
)

test('findings of validation are recorded by rule and number, without quotes', async () => {
  const file = join(folder, 'validated.jsonl')
  const privateKeyFile = join(folder, 'key.pem')
  const { privateKey, publicKey } = createReceiptKeys()
  writeFileSync(privateKeyFile, privateKey, { mode: 0o600 })
  const engine = openEngine({ audit: { file }, receipts: { privateKeyFile }, onEvent: () => undefined })
  const { lazaret } = engine
  await using _ = lazaret
  await using warning = new CheckedPrograms(engine, 'warn')
  await using strict = new CheckedPrograms(engine, 'enforce')
  await using agent = createAgentExecutor(lazaret)
  const code = `process.binding('${marker}'); eval('1'); eval('${marker}')`
  const risky = { language: 'javascript', code } as const
  const warned = await warning.run(risky)
  await assert.rejects(strict.run(risky), { code: 'CODE_REJECTED' })
  await warning.validate(code, 'javascript', {})
  await agent.execute({ ...risky, clientId: 'ada' })
  await agent.execute({ language: 'javascript', code: '1' })
  await lazaret.run(risky)
  const found = { riskLevel: 'high', rules: countsOf(warned.validation?.findings ?? []) }
  assert.equal(found.rules['dynamic-code'], 2)
  assert.deepEqual(
    statementsIn(file).map(({ kind, outcome, validation }) => [kind, outcome, validation]),
    [
      ['run', 'failed', found],
      ['run', 'refused', found],
      ['validation', 'done', found],
      ['run', 'failed', found],
      ['run', 'completed', { riskLevel: 'safe', rules: {} }],
      ['run', 'failed', undefined],
    ],
  )
  assert.ok(!readFileSync(file, 'utf8').includes(marker))
  assert.equal((await verifyAudit(file, { publicKey })).isIntact, true)
  const verified = verifyReceipt(warned.result, publicKey)
  assert.deepEqual(verified.isValid && verified.statement.validation, found)
})

function countsOf(findings: readonly Finding[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { rule } of findings) counts[rule] = (counts[rule] ?? 0) + 1
  return counts
}

test('a second writer is refused, in this process and in another, and the next one continues the log', async () => {
  const file = join(folder, 'one.jsonl')
  const program = `
    import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
    const lazaret = createLazaret({ audit: { file: ${JSON.stringify(file)} }, onEvent: () => undefined })
    await lazaret.run({ language: 'shell', code: ':' })
    console.log('runs')
    setInterval(() => undefined, 1000)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(other.stdout, 'data')
    const events: LazaretEvent[] = []
    await using lazaret = createLazaret({ audit: { file }, onEvent: (event) => events.push(event) })
    const refusal = { code: 'AUDIT_FAILED', message: /another process/ }
    await assert.rejects(lazaret.run({ language: 'shell', code: ':' }), refusal)
    await assert.rejects(lazaret.run({ language: 'shell', code: ':' }), refusal)
    assert.equal(events.filter(({ type }) => type === 'audit-failed').length, 1)
    other.kill('SIGKILL')
    await once(other, 'exit')
    await lazaret.run({ language: 'shell', code: ':', client: 'later' })
    await using second = createLazaret({ audit: { file }, onEvent: () => undefined })
    await assert.rejects(second.run({ language: 'shell', code: ':' }), refusal)
  } finally {
    other.kill('SIGKILL')
  }
  const verification = await verifyAudit(file)
  assert.deepEqual([verification.problems, verification.torn], [[], 0])
  assert.deepEqual(
    statementsIn(file).map(({ outcome, error }) => error ?? outcome),
    ['completed', 'AUDIT_FAILED', 'AUDIT_FAILED', 'completed'],
  )
})

test('a file that cannot be opened stops the start', () => {
  for (const [file, message] of [
    [join(folder, 'no/such/folder'), /ENOENT/],
    ['/dev/null', /not a regular file/],
    [folder, /EISDIR/],
  ] as const)
    assert.throws(() => createLazaret({ audit: { file } }), { code: 'AUDIT_FAILED', message })
})

test('work continues without records if that is chosen', async () => {
  const file = join(folder, 'taken.jsonl')
  await using first = createLazaret({ audit: { file }, onEvent: () => undefined })
  await first.run({ language: 'shell', code: ':' })
  const events: string[] = []
  const second = createLazaret({
    audit: { file, onFailure: 'continue' },
    onEvent: ({ type }) => events.push(type),
  })
  const { outcome } = await second.run({ language: 'shell', code: ':' })
  assert.equal(outcome.kind, 'completed')
  await second[Symbol.asyncDispose]()
  const ofWork = events.filter((type) => type !== 'leftovers-removed')
  assert.deepEqual(ofWork.toSorted(), ['audit-failed', 'work-ended', 'work-started'])
})
