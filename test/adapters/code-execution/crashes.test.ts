/** Workers that are killed from outside: every call has a result, and slots that crash too often are disabled. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { CodeExecutionService } from '../../../src/adapters/code-execution/index.ts'
import type {
  CodeExecutionResult,
  SlotEvent,
  WorkerPoolOptions,
} from '../../../src/adapters/code-execution/index.ts'
import { eventually } from '../../support/eventually.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { findWorkers } from './find-workers.ts'

const quick = { code: 'output = 1', language: 'javascript' } as const

function observed(options: WorkerPoolOptions) {
  const events: SlotEvent[] = []
  const messages: string[] = []
  const service = new CodeExecutionService({
    ...options,
    onEvent: (event) => events.push(event),
    logger: {
      warn: (text) => messages.push(`warn ${text}`),
      error: (text) => messages.push(`error ${text}`),
    },
  })
  return {
    service,
    events,
    messages,
    statesOf: (slot: number) => events.filter((event) => event.slot === slot).map(({ to }) => to),
  }
}

/** Waits until a program runs, kills its worker, and resolves with the result. */
async function runAndKill(service: CodeExecutionService): Promise<CodeExecutionResult> {
  const begun = Promise.withResolvers<void>()
  const bridge = { begin: () => begun.resolve() }
  const running = service.execute({
    code: "console.log('here'); await bridge.begin(); for (;;);",
    language: 'javascript',
    bridge,
  })
  await begun.promise
  for (const { pid } of findWorkers()) process.kill(pid, 'SIGKILL')
  return running
}

test('a program whose worker is killed gets a result, and the worker is replaced at once', async () => {
  const { service, messages, statesOf } = observed({ poolSize: 1 })
  await using _ = service
  const { executionTimeMs, ...result } = await runAndKill(service)
  assert.deepEqual(result, {
    success: false,
    error: 'Worker process crashed',
    errorType: 'RUNTIME_ERROR',
    logs: ['[LOG] here'],
  })
  assert.ok((executionTimeMs ?? 0) > 0)
  assert.equal((await service.execute(quick)).output, 1)
  const states = ['busy', 'crashed', 'restarting', 'idle', 'busy', 'idle']
  assert.deepEqual(statesOf(1).slice(-states.length), states)
  assert.equal(messages.length, 1)
  assert.match(messages[0] ?? '', /^warn Worker 1 crashed: /)
})

test('a worker killed while it waits is replaced', async () => {
  const { service, statesOf } = observed({ poolSize: 1 })
  await using _ = service
  await service.initialize()
  for (const { pid } of findWorkers()) process.kill(pid, 'SIGKILL')
  await eventually(() => (statesOf(1).includes('crashed') ? undefined : 'nobody noticed'), 5000)
  assert.equal((await service.execute(quick)).output, 1)
})

test('a slot that crashes too often is disabled with an event; if all are, execute() reports that', async () => {
  const { service, events, messages, statesOf } = observed({ poolSize: 1, maxCrashesPerWorker: 2 })
  await using _ = service
  assert.equal((await runAndKill(service)).error, 'Worker process crashed')
  // A success in between does not reset the count.
  assert.equal((await service.execute(quick)).output, 1)
  const killed = runAndKill(service)
  const waiting = service.execute(quick)
  assert.equal((await killed).error, 'Worker process crashed')
  for (const { success, error, errorType } of [await waiting, await service.execute(quick)]) {
    assert.deepEqual([success, errorType], [false, undefined])
    assert.match(error ?? '', /All 1 workers were disabled/)
  }
  assert.deepEqual(statesOf(1).slice(-2), ['crashed', 'disabled'])
  assert.equal(events.at(-1)?.reason, '2 crashes within 60000 ms')
  assert.match(messages.at(-1) ?? '', /^error Worker 1 is disabled: 2 crashes/)
  assert.deepEqual(service.getStats(), { totalWorkers: 1, activeWorkers: 0, busyWorkers: 0, queueLength: 0 })
  await service.shutdown()
  assert.equal((await service.execute(quick)).output, 1)
})

test('only crashes within the window are counted', async () => {
  const { service } = observed({ poolSize: 1, maxCrashesPerWorker: 2, crashTimeWindow: 1 })
  await using _ = service
  for (let round = 0; round < 3; round++)
    assert.equal((await runAndKill(service)).error, 'Worker process crashed')
  assert.equal((await service.execute(quick)).output, 1)
})

test('programs that exhaust memory or time, or are aborted, do not count as crashes', async () => {
  const { service, messages } = observed({ poolSize: 1, maxCrashesPerWorker: 1 })
  await using _ = service
  const ends = async (code: string, more: object) =>
    (await service.execute({ code, language: 'javascript', ...more })).errorType
  // Each ends the worker's process in a different way.
  assert.equal(
    await ends('const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', { memoryLimitMB: 32 }),
    'MEMORY_LIMIT',
  )
  assert.equal(
    await ends('"\\uFDFA".repeat(2e7).normalize("NFKD").length', { memoryLimitMB: 64 }),
    'MEMORY_LIMIT',
  )
  assert.equal(await ends('/^(a+)+$/.test("a".repeat(50) + "b")', { timeoutSeconds: 0.1 }), 'TIMEOUT')
  assert.equal(await ends('for (;;);', { signal: AbortSignal.timeout(50) }), 'TIMEOUT')
  assert.equal(await ends('for (;;) console.log("x".repeat(1e6))', {}), 'RUNTIME_ERROR')
  assert.equal((await service.execute(quick)).output, 1)
  assert.deepEqual(messages, [])
})

test('programs on which the compiler crashes do not count as crashes', async () => {
  const { service, messages } = observed({ poolSize: 1, maxCrashesPerWorker: 1 })
  await using _ = service
  for (const nested of ['(', '[']) {
    const code = `let a: unknown = ${nested.repeat(100_000)}`
    const { error, errorType } = await service.execute({ code, language: 'typescript' })
    assert.deepEqual([error, errorType], ['Worker process crashed', 'RUNTIME_ERROR'])
    assert.equal((await service.execute(quick)).output, 1)
  }
  assert.deepEqual(messages, [])
})

test('an observer that throws has no effect on others', async () => {
  const fail = (): never => {
    throw new Error('an observer')
  }
  const logger = { warn: fail, error: fail }
  await using service = new CodeExecutionService({ poolSize: 1, onEvent: fail, logger })
  await runAndKill(service)
  assert.equal((await service.execute(quick)).output, 1)
})

test('when workers are killed at random under fifty calls, every call gets one result', async () => {
  const { service, events } = observed({ poolSize: 2, maxCrashesPerWorker: 1000 })
  await using _ = service
  await service.initialize()
  const random = seededRandom(7)
  let left = 120
  const results: CodeExecutionResult[] = []
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const inputData = left
      const code = 'for (let i = 0; i < 3e6; i++); output = input'
      const result = await service.execute({ code, language: 'javascript', inputData })
      if (result.success) assert.equal(result.output, inputData)
      results.push(result)
      if (random() < 0.12) {
        const workers = findWorkers()
        const victim = workers[Math.floor(random() * workers.length)]
        if (victim !== undefined) process.kill(victim.pid, 'SIGKILL')
      }
    }
  }
  await Promise.all(Array.from({ length: 50 }, client))
  assert.equal(results.length, 120)
  const errors = new Set(results.filter(({ success }) => !success).map(({ error }) => error))
  for (const error of errors) assert.match(error ?? '', /Worker process crashed|ended|lost/)
  assert.ok(events.some(({ to }) => to === 'crashed'))
  assert.ok(results.filter(({ success }) => success).length > 60)
  assert.equal((await service.execute(quick)).output, 1)
})
