/** `run({ runtime: 'snippet' })`: the same request and result as for other runtimes, without a cell. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { createLazaret } from '../../../src/index.ts'
import { untilShown } from '../../support/patient-run.ts'
import type { OutputChunk, RunRequest, RunResult } from '../../../src/index.ts'

const lazaret = createLazaret({ onEvent: () => undefined })
after(() => lazaret[Symbol.asyncDispose]())

const MiB = 1024 * 1024
const run = (request: Partial<RunRequest>, on = lazaret): Promise<RunResult> =>
  on.run({ language: 'javascript', runtime: 'snippet', code: '', ...request })

test('the emitted text is stdout, and the receipt names the wall', async () => {
  const { outcome, stdout, receipt, usage } = await run({ code: 'emit(read_input())', input: 'hello' })
  assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, 'hello'])
  assert.deepEqual(
    [receipt.runtime, receipt.protection, receipt.layers],
    ['snippet', 'wasm', ['wasm', 'thread']],
  )
  assert.deepEqual(receipt.limits.memoryBytes, { value: 32 * MiB, by: 'wasm' })
  assert.deepEqual(receipt.limits.wallMs.by, 'host')
  assert.ok(usage.memoryPeakBytes >= MiB && usage.outputBytes === 5)
})

test('each end has its outcome, and earlier output is kept', async () => {
  const kinds = new Map<string, Partial<RunRequest>>([
    ['timed-out', { code: 'emit("kept"); for (;;);' }],
    ['out-of-memory', { code: 'emit("kept"); const all = []; for (;;) all.push({})' }],
    ['limit-exceeded', { code: 'emit("kept"); emit("!")', limits: { outputBytes: 4 } }],
    ['failed', { code: 'emit("kept");\nnull.x' }],
  ])
  for (const [kind, request] of kinds) {
    const { seen } = await untilShown(
      (wallMs) => run({ ...request, limits: { ...request.limits, wallMs } }),
      (one) => one.seen.outcome.kind === kind && one.seen.stdout !== '',
      [100, 1000, 10_000],
    )
    const { outcome, stdout } = seen
    assert.deepEqual([outcome.kind, stdout], [kind, 'kept'])
    if (outcome.kind === 'failed') assert.equal(outcome.error.line, 2)
  }
  const { outcome } = await run({ code: 'emit("never");\nlet let' })
  assert.equal(outcome.kind, 'syntax-error')
})

test('a run that is cancelled ends, before it begins and in a loop', async () => {
  assert.equal((await run({ signal: AbortSignal.abort() })).outcome.kind, 'cancelled')
  const controller = new AbortController()
  const pending = run({ code: 'for (;;);', signal: controller.signal })
  setImmediate(() => controller.abort())
  assert.equal((await pending).outcome.kind, 'cancelled')
})

test('output is delivered before the result, in one piece', async () => {
  const chunks: OutputChunk[] = []
  await run({ code: 'emit("ä"); emit("b")', onOutput: (chunk) => void chunks.push(chunk) })
  assert.deepEqual(
    chunks.map(({ stream, text }) => [stream, text]),
    [['stdout', 'äb']],
  )
})

test('fields that need a cell are refused by name', async () => {
  const wrong: readonly (readonly [string, Partial<RunRequest>])[] = [
    ['files', { files: { a: 'b' } }],
    ['collect', { collect: ['*'] }],
    ['stdin', { stdin: 'x' }],
    ['args', { args: ['x'] }],
    ['env', { env: { A: 'b' } }],
    ['functions', { functions: { f: () => 1 } }],
    ['network', { network: 'host' }],
    ['input', { input: { a: 1 } }],
    ['typescript', { language: 'typescript' }],
    ['python', { language: 'python' }],
  ]
  for (const [name, request] of wrong)
    await assert.rejects(run(request), { code: 'INVALID_REQUEST', message: new RegExp(name) }, name)
  await assert.rejects(run({ input: 'x'.repeat(8 * MiB + 1) }), { code: 'INPUT_TOO_LARGE', message: /input/ })
  await assert.rejects(run({ code: ' '.repeat(MiB + 1) }), { code: 'INPUT_TOO_LARGE', message: /code/ })
  // Options with empty values are accepted.
  assert.equal(
    (await run({ args: [], env: {}, files: {}, stdin: '', network: 'none' })).outcome.kind,
    'completed',
  )
})

test('memory is 32 MiB, a request may ask for up to 128, and the operator’s ceiling wins', async () => {
  const allocate = (mib: number) => `emit(new Uint8Array(${mib * MiB}).length)`
  assert.equal((await run({ code: allocate(40) })).outcome.kind, 'out-of-memory')
  const { stdout } = await run({ code: allocate(40), limits: { memoryBytes: 64 * MiB } })
  assert.equal(stdout, `${40 * MiB}`)
  const { receipt } = await run({ limits: { memoryBytes: 1024 * MiB } })
  assert.deepEqual([receipt.limits.memoryBytes.value, receipt.clamped], [128 * MiB, ['memoryBytes']])
  await using hasty = createLazaret({ ceilings: { wallMs: 100 } })
  const { outcome } = await run({ code: 'for (;;);' }, hasty)
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 100 })
  await using strict = createLazaret({ ceilings: { memoryBytes: 16 * MiB } })
  assert.equal((await run({ code: allocate(17) }, strict)).outcome.kind, 'out-of-memory')
})

test('processor time equals real time, because a snippet never waits', async () => {
  const { outcome, receipt } = await run({ code: 'for (;;);', limits: { cpuMs: 100 } })
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: 100 })
  assert.deepEqual(receipt.limits.cpuMs, { value: 100, by: 'host' })
})

test('an operator can turn snippets off', async () => {
  await using without = createLazaret({ pools: { snippet: { max: 0 } } })
  await assert.rejects(run({}, without), { code: 'RUNTIME_UNAVAILABLE', message: /pools\.snippet\.max/ })
  await assert.rejects(without.warmUp({ language: 'javascript', runtime: 'snippet' }), {
    code: 'RUNTIME_UNAVAILABLE',
  })
})

test('the second run gets a waiting thread', async () => {
  await using mine = createLazaret()
  assert.equal((await run({}, mine)).receipt.start, 'cold')
  assert.equal((await run({}, mine)).receipt.start, 'parked')
})

test('it needs no level of protection, because it has no cell', async () => {
  await using demanding = createLazaret({
    minimumProtection: 'strong',
    uidRange: { first: 2_000_000_000, count: 256 },
  })
  assert.equal((await run({ code: 'emit(1)' }, demanding)).stdout, '1')
})

test('threads can be started ahead and ended, and a disposed Lazaret runs nothing', async () => {
  await using mine = createLazaret({ pools: { snippet: { max: 2 } } })
  await mine.warmUp({ language: 'javascript', runtime: 'snippet', count: 4 })
  assert.equal((await run({ code: 'emit(1)' }, mine)).receipt.start, 'parked')
  await mine.releaseWorkers()
  assert.equal((await run({ code: 'emit(2)' }, mine)).stdout, '2')
  await mine[Symbol.asyncDispose]()
  await assert.rejects(run({}, mine), { code: 'DISPOSED' })
})

test('disposal ends running snippets', async () => {
  const mine = createLazaret()
  const pending = run({ code: 'for (;;);' }, mine)
  await mine[Symbol.asyncDispose]()
  assert.equal((await pending).outcome.kind, 'cancelled')
})
