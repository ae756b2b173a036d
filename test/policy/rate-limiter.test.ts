import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { LazaretError } from '../../src/core/errors/errors.ts'
import { RateLimiter } from '../../src/policy/rate-limiter.ts'
import { FakeClock } from '../pool/fake-worker.ts'

const limiterOf = (perMinute?: number) => {
  const clock = new FakeClock()
  return { clock, limiter: new RateLimiter({ clock, ...(perMinute !== undefined && { perMinute }) }) }
}
const allowed = (limiter: RateLimiter, client: string, times: number) =>
  Array.from({ length: times }, () => limiter.checkLimit(client)).filter(({ isAllowed }) => isAllowed).length

test('thirty a minute for each client, and the thirty-first learns when to try again', () => {
  const { clock, limiter } = limiterOf()
  assert.equal(allowed(limiter, 'a', 31), 30)
  assert.equal(allowed(limiter, 'b', 31), 30)
  clock.advance(59_000)
  assert.deepEqual(limiter.checkLimit('a'), { isAllowed: false, retryAfterMs: 1000 })
  assert.throws(
    () => limiter.take('a'),
    ({ code, message, retryAfterMs, httpStatus }: LazaretError) => {
      assert.deepEqual([code, retryAfterMs, httpStatus], ['RATE_LIMITED', 1000, 429])
      assert.equal(message, 'Rate limit exceeded. Maximum 30 executions per minute.')
      return true
    },
  )
})

test('the window slides: each execution counts for its own minute', () => {
  const { clock, limiter } = limiterOf(2)
  limiter.checkLimit('a')
  clock.advance(30_000)
  limiter.checkLimit('a')
  clock.advance(29_999)
  assert.equal(limiter.checkLimit('a').isAllowed, false)
  clock.advance(1)
  assert.equal(limiter.checkLimit('a').isAllowed, true)
  assert.deepEqual(limiter.checkLimit('a'), { isAllowed: false, retryAfterMs: 30_000 })
})

test('refused executions do not count, whoever refused them', () => {
  const { clock, limiter } = limiterOf(1)
  const takeBack = limiter.take('a')
  takeBack()
  takeBack()
  limiter.take('a')
  for (let times = 0; times < 100; times++) assert.equal(limiter.checkLimit('a').isAllowed, false)
  clock.advance(60_000)
  assert.equal(limiter.checkLimit('a').isAllowed, true)
})

test('idle clients are forgotten', () => {
  const { clock, limiter } = limiterOf()
  for (let number = 0; number < 1000; number++) limiter.checkLimit(`client ${number}`)
  clock.advance(30_000)
  limiter.checkLimit('client 7')
  assert.equal(limiter.clients, 1000)
  clock.advance(30_000)
  assert.equal(limiter.clients, 1)
  clock.advance(30_000)
  assert.equal(limiter.clients, 0)
})
