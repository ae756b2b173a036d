import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { LazaretError } from '../../src/core/errors/errors.ts'
import { Breakers, CircuitBreaker } from '../../src/policy/circuit-breaker.ts'
import { FakeClock } from '../pool/fake-worker.ts'

function breakerOf() {
  const clock = new FakeClock()
  const breaker = new CircuitBreaker({ clock })
  const record = (times: number, isSuccess: boolean) => {
    for (let time = 0; time < times; time++) breaker.recordResult(isSuccess)
  }
  return { clock, breaker, record }
}
const isRefused = (breaker: CircuitBreaker) => {
  try {
    breaker.try().takeBack()
    return false
  } catch {
    return true
  }
}

describe('a breaker', () => {
  test('opens above half of the last results, not at half, and not below ten', () => {
    const few = breakerOf()
    few.record(9, false)
    assert.equal(few.breaker.isOpen(), false)
    const { breaker, record } = breakerOf()
    record(5, true)
    record(5, false)
    assert.equal(breaker.isOpen(), false)
    record(1, false)
    assert.equal(breaker.isOpen(), true)
  })

  test('looks at the last hundred', () => {
    const { breaker, record } = breakerOf()
    record(1000, true)
    record(50, false)
    assert.equal(breaker.isOpen(), false)
    record(1, false)
    assert.equal(breaker.isOpen(), true)
  })

  test('refuses with the documented text and the time of the next trial', () => {
    const { clock, breaker, record } = breakerOf()
    record(10, false)
    clock.advance(10_000)
    assert.throws(
      () => breaker.try(),
      ({ code, message, retryAfterMs, httpStatus }: LazaretError) => {
        assert.deepEqual([code, retryAfterMs, httpStatus], ['CIRCUIT_OPEN', 20_000, 503])
        assert.equal(message, 'Code execution temporarily disabled due to high error rate')
        return true
      },
    )
  })

  test('allows one trial after 30 s, closes if it succeeds, and else stays open for another 30 s', () => {
    const { clock, breaker, record } = breakerOf()
    record(10, false)
    clock.advance(29_999)
    assert.equal(breaker.state, 'open')
    clock.advance(1)
    assert.deepEqual([breaker.state, breaker.isOpen()], ['half-open', false])
    const failing = breaker.try()
    assert.deepEqual([breaker.isOpen(), isRefused(breaker)], [true, true])
    failing.recordResult(false)
    failing.recordResult(true)
    assert.equal(breaker.state, 'open')
    clock.advance(30_000)
    breaker.try().recordResult(true)
    assert.equal(breaker.state, 'closed')
    record(8, false)
    assert.equal(breaker.isOpen(), false)
  })

  test('gives the trial to another request if it was undone, and ignores results of older requests', () => {
    const { clock, breaker, record } = breakerOf()
    const old = breaker.try()
    record(10, false)
    clock.advance(30_000)
    old.recordResult(true)
    assert.equal(breaker.state, 'half-open')
    breaker.try().takeBack()
    const again = breaker.try()
    again.recordResult(true)
    assert.equal(breaker.state, 'closed')
  })

  test('allows another trial if one takes as long as a cool-down, and then only the newer one decides', () => {
    const { clock, breaker, record } = breakerOf()
    record(10, false)
    clock.advance(30_000)
    const endless = breaker.try()
    clock.advance(29_999)
    assert.throws(() => breaker.try(), { code: 'CIRCUIT_OPEN', retryAfterMs: 1 })
    clock.advance(1)
    const next = breaker.try()
    endless.takeBack()
    assert.equal(isRefused(breaker), true)
    next.recordResult(true)
    assert.equal(breaker.state, 'closed')
    clock.advance(30_000)
    record(20, false)
    clock.advance(30_000)
    const late = breaker.try()
    clock.advance(30_000)
    breaker.try().recordResult(true)
    late.recordResult(false)
    assert.equal(breaker.state, 'closed')
  })

  test('can be queried and updated without a trial', () => {
    const { clock, breaker, record } = breakerOf()
    record(10, false)
    clock.advance(30_000)
    record(1, true)
    assert.deepEqual([breaker.isOpen(), breaker.state], [false, 'closed'])
  })
})

test('one name’s failures never refuse another, and the number of remembered names is bounded', () => {
  const breakers = new Breakers({ clock: new FakeClock() })
  for (let times = 0; times < 10; times++) breakers.of('a').recordResult(false)
  assert.deepEqual([isRefused(breakers.of('a')), isRefused(breakers.of('b'))], [true, false])
  for (let number = 0; number < 10_000; number++) breakers.of(String(number))
  assert.equal(isRefused(breakers.of('a')), false)
})
