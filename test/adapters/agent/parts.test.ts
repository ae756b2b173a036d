/** The parts of `lazaret/agent`, each alone, with the default clock. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import {
  CircuitBreaker,
  createAgentExecutor,
  ExecutionMonitor,
  ExecutionPool,
  InputValidator,
  RateLimiter,
  retry,
  SubprocessExecutor,
  toMetadata,
} from '../../../src/adapters/agent/index.ts'
import { createLazaret } from '../../../src/index.ts'

const lazaret = createLazaret({ onEvent: () => undefined })
after(() => lazaret[Symbol.asyncDispose]())

test('a subprocess executor runs a program, and describes the run', async () => {
  const executor = new SubprocessExecutor({ lazaret, timeoutSeconds: 5, memoryLimitMb: 128 })
  const { success, output, metadata, result } = await executor.execute({ code: 'print(1)' })
  assert.deepEqual([success, output, metadata.exit_code], [true, '1\n', 0])
  assert.deepEqual(metadata, toMetadata(result))
  assert.deepEqual([metadata.memory_limit_mb, metadata.timeout_seconds], [128, 5])
  await assert.rejects(executor.execute({ code: 7 as never }), { code: 'INVALID_REQUEST' })
})

test('any run has metadata', async () => {
  const run = {
    language: 'shell',
    code: 'sleep 9',
    limits: { wallMs: 50, memoryBytes: 64 * 2 ** 20 },
  } as const
  const { duration_ms, ...metadata } = toMetadata(await lazaret.run(run))
  assert.ok(duration_ms >= 50)
  const expected = { exit_code: -9, timeout_triggered: true, memory_limit_mb: 64, timeout_seconds: 0.05 }
  assert.deepEqual(metadata, expected)
})

test('exceeding the processor time limit is a timeout and not a crash', async () => {
  const run = { language: 'python', code: 'while True: pass', limits: { cpuMs: 100 } } as const
  const { exit_code, timeout_triggered } = toMetadata(await lazaret.run(run))
  assert.deepEqual([exit_code, timeout_triggered], [-9, true])
})

test('the parts use their own clock by default', async () => {
  const limiter = new RateLimiter({ perMinute: 1 })
  assert.equal(limiter.checkLimit('ada').isAllowed, true)
  assert.equal(limiter.checkLimit('ada').isAllowed, false)
  assert.equal(new RateLimiter().checkLimit('ada').isAllowed, true)
  const breaker = new CircuitBreaker()
  for (let count = 0; count < 10; count++) breaker.recordResult(false)
  assert.equal(breaker.isOpen(), true)
  const pool = new ExecutionPool({ runningMax: 1 })
  assert.deepEqual(await Promise.all([pool.submit(async () => 1), pool.submit(async () => 2)]), [1, 2])
  assert.equal(new ExecutionMonitor().snapshot().total, 0)
  assert.equal(await retry(async (attempt) => attempt), 1)
  await using validator = new InputValidator({ lazaret })
  assert.equal((await validator.validate('1', 'javascript')).isSafe, true)
})

test('an invalid number never becomes an unlimited limit', async () => {
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, -1, '30', null] as never[]
  for (const value of wrong) {
    const all: readonly (() => unknown)[] = [
      () => new RateLimiter({ perMinute: value }),
      () => new CircuitBreaker({ failureShareMax: value }),
      () => new CircuitBreaker({ resultsMin: value }),
      () => new CircuitBreaker({ coolDownMs: value }),
      () => new ExecutionPool({ runningMax: value }),
      () => new ExecutionPool({ waitingMax: value }),
      () => createAgentExecutor(lazaret, { rate: { perMinute: value } }),
      () => createAgentExecutor(lazaret, { queue: { waitingMax: value } }),
      () => createAgentExecutor(lazaret, { breaker: { failureShareMax: value } }),
      () => createAgentExecutor(lazaret, { retry: { retriesMax: value } }),
      () => createAgentExecutor(lazaret, { timeoutSeconds: value }),
    ]
    for (const make of all) assert.throws(make, { code: 'INVALID_REQUEST' }, String(make))
    await assert.rejects(
      retry(async () => 1, { retriesMax: value }),
      { code: 'INVALID_REQUEST' },
    )
  }
})

test('an executor refuses unknown options and unknown modes of validation', () => {
  const wrong = [
    { validation: { mode: 'block' } },
    { validation: 'enforce' },
    { validation: { imports: { python: 'os' } } },
    { rates: { perMinute: 1 } },
    { rate: true },
    { onTimeout: 1 },
  ]
  for (const options of wrong)
    assert.throws(() => createAgentExecutor(lazaret, options as never), { code: 'INVALID_REQUEST' })
})
