/** The account of the bytes that clients make the host hold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldTotal, HostAccount } from '../../src/core/host-account.ts'

const bodies = (client?: string) => ({ client, kind: 'bodies' }) as const

test('a client alone gets half of all bytes, and the next one finds room at once', () => {
  const account = new HostAccount(1000)
  using first = account.reserve(bodies('ada'), 500)
  assert.throws(() => account.reserve(bodies('ada'), 1), { code: 'CLIENT_QUEUE_FULL', retryAfterMs: 1000 })
  using second = account.reserve(bodies('bob'), 250)
  assert.throws(() => account.reserve(bodies('eve'), 126), { code: 'QUEUE_FULL', retryAfterMs: 1000 })
  using third = account.reserve(bodies(), 125)
  assert.deepEqual([first.bytes, second.bytes, third.bytes], [500, 250, 125])
})

test('what is refused or given back is not counted', () => {
  const account = new HostAccount(1000)
  const body = account.reserve(bodies('ada'), 100)
  using answer = account.reserve({ client: 'ada', kind: 'answers' })
  assert.equal(answer.tryResize(401), false)
  assert.throws(() => answer.resize(401), { code: 'CLIENT_QUEUE_FULL' })
  answer.resize(400)
  const kinds = { bodies: 100, answers: 400, logs: 0, output: 0 }
  assert.deepEqual(account.stats, { bytes: 500, bytesMax: 1000, kinds })
  answer.resize(1)
  body[Symbol.dispose]()
  body[Symbol.dispose]()
  assert.equal(body.tryResize(1), false)
  assert.deepEqual(account.stats.kinds, { ...kinds, bodies: 0, answers: 1 })
})

test('what never fits is not worth another try', () => {
  const account = new HostAccount(1000)
  assert.throws(() => account.reserve(bodies('ada'), 501), { retryable: false })
})

test('accounts of one process together hold no more than one alone, unless its operator wants more', () => {
  const total = new HeldTotal(1000)
  const [first, second] = [new HostAccount(1000, total), new HostAccount(1000, total)]
  const [small, large] = [new HostAccount(100, total), new HostAccount(2000, total)]
  using held = first.reserve(bodies('ada'), 500)
  assert.throws(() => second.reserve(bodies('ada'), 251), { code: 'QUEUE_FULL' })
  using other = second.reserve(bodies('ada'), 250)
  using little = small.reserve(bodies('ada'), 50)
  using more = large.reserve(bodies('ada'), 600)
  assert.equal(total.bytes, held.bytes + other.bytes + little.bytes + more.bytes)
  for (const one of [held, other, little, more]) one[Symbol.dispose]()
  assert.equal(total.bytes, 0)
})
