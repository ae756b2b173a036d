/** The audit log of a whole Lazaret: every door is in it, and one process at a time writes to it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { runSnippet } from '../../src/adapters/snippet-tool/index.ts'
import { createLazaret } from '../../src/index.ts'
import type { LazaretEvent } from '../../src/index.ts'
import type { Entry } from '../../src/observe/audit-line.ts'
import { verifyAudit } from '../../src/observe/index.ts'
import { checkoutRoot } from '../support/checkout.ts'
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
  'runs, snippets, sandboxes, commands, processes and files are in it, before their callers know of their ends',
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

test('a second writer is refused, in this process and in another, and the next one goes on', async () => {
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
    ['/dev/null', /no regular file/],
    [folder, /EISDIR/],
  ] as const)
    assert.throws(() => createLazaret({ audit: { file } }), { code: 'AUDIT_FAILED', message })
})

test('work goes on without records where that is chosen', async () => {
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
  assert.deepEqual(events.toSorted(), ['audit-failed', 'work-ended'])
})
