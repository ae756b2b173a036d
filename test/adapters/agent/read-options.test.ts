/** A misspelt option of an executor or a part is refused: ignoring it would turn off what the caller meant. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import {
  CircuitBreaker,
  createAgentExecutor,
  ExecutionPool,
  InputValidator,
  RateLimiter,
  retry,
  SubprocessExecutor,
} from '../../../src/adapters/agent/index.ts'
import { createLazaret } from '../../../src/index.ts'

const lazaret = createLazaret()
after(() => lazaret[Symbol.asyncDispose]())

const wrong: readonly (readonly [options: unknown, detail: string])[] = [
  ['strict', 'Options: must be an object.'],
  [{ validation: 'enforce' }, 'Options: validation: must be an object.'],
  [{ validation: { mode: 'strict' } }, 'validation.mode: must be one of "off", "warn", "enforce".'],
  [{ validation: { imports: ['math'] } }, 'validation.imports: must be an object.'],
  [{ validation: { imports: { python: 'math' } } }, 'validation.imports.python: must be a list.'],
  [{ rate: 30 }, 'rate: must be false or an object.'],
  [{ rate: { perMinute: '30' } }, 'rate.perMinute: must be a finite number.'],
  [{ rate: { perminute: 30 } }, 'unknown key "perminute"; known keys: perMinute.'],
  [{ timeoutSeconds: -1 }, 'timeoutSeconds: must be more than 0.'],
  [{ memoryLimitMb: 1 }, 'memoryLimitMb: must be at least 16.'],
  [{ queue: { runningMax: 0 } }, 'queue.runningMax: must be at least 1.'],
  [{ breaker: true }, 'breaker: must be false or an object.'],
  [{ retry: { retriesMax: Number.NaN } }, 'retry.retriesMax: must be a finite number.'],
  [{ monitor: {} }, 'monitor: must be an ExecutionMonitor.'],
  [{ onTimeout: 'log' }, 'onTimeout: must be a function.'],
]

for (const [options, detail] of wrong) {
  test(`an executor refuses ${JSON.stringify(options)}`, () => {
    assert.throws(
      () => createAgentExecutor(lazaret, options as never),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'INVALID_REQUEST')
        assert.ok(error.message.includes(detail), error.message)
        return true
      },
    )
  })
}

test('an executor without a Lazaret is refused when it is created', () => {
  const refused = { code: 'INVALID_REQUEST', message: /lazaret: must be a Lazaret/ }
  for (const none of [undefined, null, {}, { run: 'x' }])
    assert.throws(() => createAgentExecutor(none as never), refused)
  assert.throws(() => new InputValidator({} as never), refused)
  assert.throws(() => new SubprocessExecutor({ timeoutSeconds: 1 } as never), refused)
})

test('the parts refuse options that would remove a limit', async () => {
  const refused = { code: 'INVALID_REQUEST' }
  assert.throws(() => new RateLimiter({ perMinute: Number.NaN }), refused)
  assert.throws(() => new RateLimiter({ perminute: 5 } as never), refused)
  assert.throws(() => new ExecutionPool({ runningMax: Number.POSITIVE_INFINITY }), refused)
  assert.throws(() => new CircuitBreaker({ failureShareMax: 2 }), refused)
  assert.throws(() => new InputValidator({ lazaret, imports: ['math'] as never }), refused)
  assert.throws(() => new SubprocessExecutor({ lazaret, memoryLimitMb: '512' as never }), refused)
  await assert.rejects(
    retry(async () => 1, { retriesMax: Number.NaN }),
    refused,
  )
})
