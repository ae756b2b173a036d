import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import type { LazaretError } from '../../src/core/errors/errors.ts'
import { Room } from '../../src/policy/room.ts'
import type { Place, RoomParts, Wish } from '../../src/policy/room.ts'
import { availableMemory, resolveHeldBytes, resolveRoom } from '../../src/policy/room-size.ts'
import { FakeClock } from '../pool/fake-worker.ts'
import { formatDelay, measureLoop } from '../support/machine/loop-delay.ts'

const calm = new AbortController().signal
/** Some microseconds for each of ten thousand, on a busy machine. */
const givenUpMsMax = 300

/** Whether the error is permanent: waiting does not help, so nothing in it advises that. */
function isLasting({ message, hint, retryable, retryAfterMs }: LazaretError): boolean {
  assert.doesNotMatch(`${message} ${hint}`, /retry|again|later|seconds/i)
  assert.match(hint, /^Destroy a sandbox .*`limits\.memoryBytes`/)
  return !retryable && retryAfterMs === undefined
}

class Crowd {
  readonly clock = new FakeClock()
  readonly room: Room
  /** The clients that have a place, in the order in which they got it. */
  readonly inside: string[] = []
  readonly refused: string[] = []
  readonly #places = new Map<string, Place[]>()

  constructor(parts: Partial<RoomParts> = {}) {
    const size = { runningMax: 4, memoryTotalBytes: 100, waitingMax: 6, waitMs: 1000 }
    this.room = new Room({ ...size, clock: this.clock, ...parts })
  }

  /** Resolves when everything that can happen immediately has happened. */
  async come(client: string, wish: Partial<Wish> = {}): Promise<void> {
    void this.#enter({ client, memoryBytes: 1, signal: calm, ...wish })
    await this.settle()
  }

  async leave(client: string): Promise<void> {
    const place = this.#places.get(client)?.shift()
    assert.ok(place, `${client} has no place`)
    this.inside.splice(this.inside.indexOf(client), 1)
    place.leave()
    place.leave()
    await this.settle()
  }

  async settle(): Promise<void> {
    await new Promise(setImmediate)
  }

  queuedMsOf(client: string): number | undefined {
    return this.#places.get(client)?.[0]?.queuedMs
  }

  async #enter(wish: Wish): Promise<void> {
    try {
      const place = await this.room.enter(wish)
      this.#places.set(wish.client, [...(this.#places.get(wish.client) ?? []), place])
      this.inside.push(wish.client)
    } catch (error) {
      this.refused.push(`${wish.client} ${(error as LazaretError).code ?? String(error)}`)
    }
  }
}

describe('places', () => {
  test('a single client gets just over half, and the next client finds room at once', async () => {
    const crowd = new Crowd({ runningMax: 8, waitingMax: 100 })
    for (let times = 0; times < 20; times++) await crowd.come('flood')
    assert.equal(crowd.inside.length, 5)
    for (const client of ['ada', 'bob', 'eve']) await crowd.come(client)
    assert.deepEqual(crowd.inside.slice(5), ['ada', 'bob', 'eve'])
    assert.equal(crowd.queuedMsOf('ada'), 0)
    await crowd.come('late')
    assert.equal(crowd.inside.includes('late'), false)
    await crowd.leave('flood')
    assert.equal(crowd.inside.includes('late'), true)
  })

  test('go to the client with the fewest running, and in turn if several have equally few', async () => {
    const crowd = new Crowd({ runningMax: 3, waitingMax: 100, isShared: true })
    for (const client of ['a', 'a', 'b', 'a', 'b', 'c', 'd', 'c']) await crowd.come(client)
    assert.deepEqual(crowd.inside, ['a', 'a', 'b'])
    const served: string[] = []
    for (const leaving of ['a', 'b', 'c', 'd', 'a']) {
      await crowd.leave(leaving)
      served.push(crowd.inside.at(-1) ?? '')
    }
    assert.deepEqual(served, ['c', 'b', 'd', 'c', 'a'])
  })

  test('that are all taken are waited for, and the wait is reported', async () => {
    const crowd = new Crowd({ runningMax: 1 })
    await crowd.come('a')
    await crowd.come('b')
    crowd.clock.advance(70)
    await crowd.leave('a')
    assert.deepEqual([crowd.inside, crowd.queuedMsOf('b')], [['b'], 70])
    assert.deepEqual([crowd.room.running, crowd.room.waiting], [1, 0])
    await crowd.leave('b')
    assert.deepEqual([crowd.room.running, crowd.room.promisedBytes, crowd.clock.nextMs], [0, 0, undefined])
  })

  test('are not waited for after the caller gives up, nor longer than allowed', async () => {
    const crowd = new Crowd({ runningMax: 1 })
    const abort = new AbortController()
    await crowd.come('a')
    await crowd.come('b', { signal: abort.signal })
    await crowd.come('c')
    abort.abort(new Error('enough'))
    crowd.clock.advance(1000)
    await crowd.settle()
    assert.deepEqual(crowd.refused, ['b Error: enough', 'c QUEUE_FULL'])
    assert.deepEqual([crowd.room.waiting, crowd.clock.nextMs], [0, undefined])
  })
})

test('thousands of clients that give up at one time do not block the event loop', async () => {
  const size = { runningMax: 4, memoryTotalBytes: 1000, waitingMax: 10_000, waitMs: 1000 }
  for (const reason of ['abort', 'deadline'] as const) {
    const room = new Room({ ...size, clock: systemClock })
    const abort = new AbortController()
    void room.enter({ client: 'large', memoryBytes: 900, signal: calm })
    const waits = Array.from({ length: size.waitingMax }, (_, index) =>
      Promise.resolve(room.enter({ client: `client ${index}`, memoryBytes: 200, signal: abort.signal })),
    )
    const all = Promise.allSettled(waits)
    await measured(reason, async () => {
      if (reason === 'abort') abort.abort()
      await all
    })
    assert.equal(room.waiting, 0)
  }
})

/** A crowd cannot repeat the work, so this measures only once. */
async function measured(name: string, work: () => Promise<void>): Promise<void> {
  const { delay } = await measureLoop(work)
  assert.ok(delay.maxMs < givenUpMsMax, `${name}: ${formatDelay(delay)}`)
}

describe('memory', () => {
  test('is promised up to the available amount, and not a byte more', async () => {
    const crowd = new Crowd({ runningMax: 100, isShared: true })
    for (const client of ['a', 'b', 'c', 'd']) await crowd.come(client, { memoryBytes: 30 })
    assert.deepEqual([crowd.inside, crowd.room.promisedBytes], [['a', 'b', 'c'], 90])
    await crowd.come('e', { memoryBytes: 10 })
    assert.equal(crowd.room.promisedBytes, 100)
    await crowd.leave('a')
    assert.deepEqual([crowd.inside, crowd.room.promisedBytes], [['b', 'c', 'e', 'd'], 100])
  })

  test('that a large request waits for is not given to smaller ones', async () => {
    const crowd = new Crowd({ runningMax: 100, waitMs: 9000, isShared: true })
    for (const client of ['a', 'b']) await crowd.come(client, { memoryBytes: 45 })
    await crowd.come('large', { memoryBytes: 50 })
    await crowd.come('small', { memoryBytes: 5 })
    assert.deepEqual(crowd.inside, ['a', 'b', 'small'])
    crowd.clock.advance(1001)
    await crowd.come('other', { memoryBytes: 5 })
    assert.equal(crowd.inside.includes('other'), false)
    await crowd.leave('a')
    assert.deepEqual(crowd.inside.slice(1), ['small', 'large'])
  })

  test('of sandboxes counts while they exist; a request that could only wait for them is refused at once', async () => {
    const crowd = new Crowd()
    await crowd.come('owner', { memoryBytes: 80, isStanding: true })
    await crowd.come('run', { memoryBytes: 30 })
    await crowd.come('owner', { memoryBytes: 30, isStanding: true })
    assert.deepEqual(crowd.refused, ['run QUEUE_FULL', 'owner QUEUE_FULL'])
    assert.throws(() => crowd.room.enter({ client: 'run', memoryBytes: 30, signal: calm }), isLasting)
    await crowd.come('run', { memoryBytes: 20 })
    assert.deepEqual([crowd.inside, crowd.room.running], [['owner', 'run'], 1])
    await crowd.leave('owner')
    await crowd.come('run', { memoryBytes: 30 })
    assert.equal(crowd.room.promisedBytes, 50)
  })
})

describe('a full queue', () => {
  const full = async (...clients: string[]) => {
    const crowd = new Crowd({ runningMax: 1 })
    await crowd.come('inside')
    for (const client of clients) await crowd.come(client)
    return crowd
  }

  test('of one client reports that the machine is full, and when to retry', async () => {
    const crowd = await full('a', 'a', 'a', 'a', 'a', 'a', 'a')
    assert.deepEqual(crowd.refused, ['a QUEUE_FULL'])
    assert.throws(
      () => crowd.room.enter({ client: 'a', memoryBytes: 1, signal: calm }),
      ({ retryAfterMs, httpStatus }: LazaretError) => retryAfterMs === 7000 && httpStatus === 503,
    )
  })

  test('makes room for a client with less than its share; the client with the most loses its newest request', async () => {
    const crowd = await full('a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b')
    assert.deepEqual(crowd.refused, [
      'a CLIENT_QUEUE_FULL',
      'a CLIENT_QUEUE_FULL',
      'a CLIENT_QUEUE_FULL',
      'b CLIENT_QUEUE_FULL',
    ])
    await crowd.come('c')
    assert.equal(crowd.room.waiting, 6)
    assert.equal(crowd.refused.length, 5)
  })

  test('with one request of each client refuses a further client because the machine is full', async () => {
    const crowd = await full('a', 'b', 'c', 'd', 'e', 'f', 'g', 'a')
    assert.deepEqual(crowd.refused, ['g QUEUE_FULL', 'a CLIENT_QUEUE_FULL'])
  })
})

test('the sizes follow the machine unless the operator names them', () => {
  const asked = { runningMax: 3, memoryTotalBytes: 5, waitingMax: 7, waitMs: 9 }
  assert.deepEqual(
    resolveRoom(asked, () => assert.fail('nobody asks')),
    asked,
  )
  const usual = resolveRoom({}, () => 1024 ** 3)
  assert.ok(usual.runningMax >= 16)
  assert.deepEqual(
    [usual.memoryTotalBytes, usual.waitingMax, usual.waitMs],
    [0.75 * 1024 ** 3, 10_000, 600_000],
  )
  assert.ok(availableMemory() > 0)
})

test('clients may make the process hold a part of what is available and of the heap', () => {
  const heldOf = (availableBytes: number, heapBytes: number) =>
    resolveHeldBytes({}, () => availableBytes, heapBytes) / 1024 ** 2
  const GiB = 1024 ** 3
  assert.deepEqual(
    [heldOf(8 * GiB, 8 * GiB), heldOf(16 * GiB, 2 * GiB), heldOf(GiB / 4, GiB / 2)],
    [1024, 512, 64],
  )
  assert.equal(
    resolveHeldBytes({ heldBytesMax: 7 }, () => assert.fail('nobody asks')),
    7,
  )
})
