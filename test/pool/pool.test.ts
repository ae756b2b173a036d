import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import { Pool } from '../../src/pool/pool.ts'
import type { PoolSize, WorkerShape } from '../../src/pool/shape.ts'
import type { ReadyWorker } from '../../src/runtimes/work/worker.ts'
import { FakeClock, FakeWorker } from './fake-worker.ts'

const shape: WorkerShape = {
  runtime: {
    name: 'python',
    languages: ['python'],
    parks: 'program',
    toolchain: { find: () => null, fix: () => '', isShown: false },
    prepare: () => assert.fail('not here'),
  },
  language: 'python',
  realm: 'runtime',
  network: 'none',
  client: '',
  preload: [],
  environment: undefined,
  limits: defaultLimits,
  key: 'python',
}

class Bench {
  readonly clock = new FakeClock()
  readonly started: FakeWorker[] = []
  readonly failures: unknown[] = []
  readonly offered: ReadyWorker[] = []
  wants = 0
  /** The next start. */
  start: (signal: AbortSignal) => Promise<FakeWorker> = async () => new FakeWorker()
  isWaitedFor = false
  readonly pool: Pool

  constructor(size: Partial<PoolSize> = {}) {
    this.pool = new Pool({
      shape,
      size: { min: 0, max: 8, ...size },
      clock: this.clock,
      start: async (_shape, signal) => {
        const worker = await this.start(signal)
        this.started.push(worker)
        return worker.asWorker
      },
      offer: (worker) => {
        this.offered.push(worker)
        return this.isWaitedFor
      },
      onFailing: (reason) => this.failures.push(reason),
      onWant: () => this.wants++,
    })
  }

  get counts() {
    const { wanted, parked, starting, served, missed, failures, lost } = this.pool.stats
    return { wanted, parked, starting, served, missed, failures, lost }
  }

  async refill(): Promise<void> {
    while (this.pool.wantsMore) await this.pool.startOne()
  }

  /** Makes `count` requests at the same time. */
  ask(count: number): number {
    return Array.from({ length: count }, () => this.pool.take()).filter(Boolean).length
  }

  async failOnce(reason = new Error('no')): Promise<void> {
    this.start = () => Promise.reject(reason)
    await assert.rejects(this.pool.startOne(), reason)
    this.start = async () => new FakeWorker()
  }
}

describe('how many a pool wants', () => {
  test('none, until a second request finds no worker', () => {
    const { pool } = new Bench()
    assert.equal(pool.wantsMore, false)
    assert.equal(pool.take(), undefined)
    assert.deepEqual([pool.wantsMore, pool.isEmpty], [false, true])
    assert.equal(pool.take(), undefined)
    assert.deepEqual([pool.wantsMore, pool.stats.wanted], [true, 1])
  })

  test('twice as many after each request that finds none, up to its maximum size', async () => {
    const bench = new Bench({ max: 6 })
    bench.ask(1)
    const wanted: number[] = []
    for (let time = 0; time < 5; time++) {
      bench.ask(1)
      wanted.push(bench.counts.wanted)
    }
    assert.deepEqual(wanted, [1, 2, 4, 6, 6])
    await bench.refill()
    assert.deepEqual([bench.counts.parked, bench.pool.wantsMore], [6, false])
  })

  test('no more than before after requests that find one', async () => {
    const bench = new Bench()
    bench.pool.want(2)
    for (let time = 0; time < 5; time++) {
      await bench.refill()
      assert.equal(bench.ask(2), 2)
    }
    assert.deepEqual(bench.counts, {
      wanted: 2,
      parked: 0,
      starting: 0,
      served: 10,
      missed: 0,
      failures: 0,
      lost: 0,
    })
  })

  test('its minimum size from the beginning, and never less', async () => {
    const bench = new Bench({ min: 2 })
    await bench.refill()
    for (let look = 0; look < 10; look++) bench.pool.shrink()
    assert.deepEqual([bench.counts.wanted, bench.counts.parked, bench.pool.isEmpty], [2, 2, false])
  })

  test('the requested number, within its size, and not less than before', () => {
    const { pool } = new Bench({ max: 4 })
    pool.want(3)
    pool.want(1)
    assert.equal(pool.stats.wanted, 3)
    pool.want(100)
    assert.equal(pool.stats.wanted, 4)
  })

  test('fewer by half of the unneeded workers at each check, down to none', async () => {
    const bench = new Bench()
    bench.pool.want(8)
    await bench.refill()
    bench.pool.shrink() // starts a new interval: workers parked since the last call were not idle all the time
    const seen: number[] = []
    for (let look = 0; look < 5; look++) {
      bench.pool.shrink()
      seen.push(bench.counts.parked)
      assert.equal(bench.counts.wanted, bench.counts.parked)
    }
    assert.deepEqual(seen, [4, 2, 1, 0, 0])
    assert.ok(bench.pool.isEmpty)
    assert.ok(bench.started.every(({ isEnded }) => isEnded))
  })

  test('as many as a burst needed since the last check', async () => {
    const bench = new Bench()
    bench.pool.want(8)
    await bench.refill()
    bench.pool.shrink()
    bench.ask(6)
    await bench.refill()
    bench.pool.shrink()
    assert.equal(bench.counts.wanted, 7)
  })
})

describe('the workers of a pool', () => {
  test('go to runs in the order in which they were parked', async () => {
    const bench = new Bench()
    bench.pool.want(2)
    await bench.refill()
    assert.deepEqual(
      [bench.pool.take(), bench.pool.take()],
      bench.started.map(({ asWorker }) => asWorker),
    )
  })

  test('serve a waiting run instead of being parked', async () => {
    const bench = new Bench()
    bench.pool.want(1)
    bench.isWaitedFor = true
    await bench.pool.startOne()
    assert.deepEqual(
      bench.offered,
      bench.started.map(({ asWorker }) => asWorker),
    )
    assert.deepEqual([bench.counts.parked, bench.counts.served], [0, 1])
  })

  test('count while they start, so that none is started twice', async () => {
    const bench = new Bench()
    bench.pool.want(1)
    const arrival = Promise.withResolvers<FakeWorker>()
    bench.start = () => arrival.promise
    const starting = bench.pool.startOne()
    assert.deepEqual([bench.pool.wantsMore, bench.pool.isEmpty, bench.counts.starting], [false, false, 1])
    arrival.resolve(new FakeWorker())
    await starting
    assert.deepEqual([bench.counts.starting, bench.counts.parked], [0, 1])
  })

  test('that end by themselves are replaced, after a pause', async () => {
    const bench = new Bench()
    bench.pool.want(2)
    await bench.refill()
    const [first] = bench.started
    first?.lose()
    await new Promise(setImmediate)
    assert.deepEqual([bench.counts.parked, bench.counts.lost, bench.pool.wantsMore], [1, 1, false])
    assert.ok(first?.isEnded)
    assert.equal(bench.failures.length, 1)
    bench.clock.advance(100)
    assert.deepEqual([bench.wants, bench.pool.wantsMore], [1, true])
    await bench.refill()
    assert.deepEqual([bench.counts.parked, bench.counts.failures], [2, 0])
  })

  test('that are lost after they were taken are left to the run', async () => {
    const bench = new Bench()
    bench.pool.want(1)
    await bench.refill()
    bench.pool.take()
    bench.started[0]?.lose()
    await new Promise(setImmediate)
    assert.deepEqual([bench.counts.lost, bench.failures.length, bench.started[0]?.isEnded], [0, 0, false])
  })
})

describe('a pool whose starts fail', () => {
  test('waits twice as long after each, up to half a minute', async () => {
    const bench = new Bench({ min: 1 })
    const pauses: (number | undefined)[] = []
    for (let time = 0; time < 11; time++) {
      await bench.failOnce()
      assert.equal(bench.pool.wantsMore, false)
      pauses.push(bench.clock.nextMs)
      bench.clock.advance(bench.clock.nextMs ?? 0)
      assert.equal(bench.pool.wantsMore, true)
    }
    assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
    assert.equal(bench.clock.nextMs, undefined)
  })

  test('reports it once, and again after a success', async () => {
    const bench = new Bench({ min: 1 })
    const [first, second] = [new Error('first'), new Error('second')]
    await bench.failOnce(first)
    for (let time = 0; time < 3; time++) {
      bench.clock.advance(30_000)
      await bench.failOnce()
    }
    assert.deepEqual(bench.failures, [first])
    bench.clock.advance(30_000)
    await bench.refill()
    assert.equal(bench.counts.failures, 0)
    await bench.failOnce(second)
    assert.deepEqual(bench.failures, [first, second])
    assert.equal(bench.clock.nextMs, 100)
  })

  test('pauses only once, however many starts fail together', async () => {
    const bench = new Bench()
    bench.pool.want(3)
    const arrival = Promise.withResolvers<FakeWorker>()
    bench.start = () => arrival.promise
    const starts = [bench.pool.startOne(), bench.pool.startOne(), bench.pool.startOne()]
    arrival.reject(new Error('no'))
    await Promise.allSettled(starts)
    assert.deepEqual([bench.counts.failures, bench.failures.length, bench.clock.nextMs], [3, 1, 100])
  })
})

describe('a pool that is closed', () => {
  test('aborts workers that are starting, which does not count as a failure', async () => {
    const bench = new Bench({ min: 1 })
    bench.start = (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('no'))))
    const starting = bench.pool.startOne()
    await bench.pool.close()
    await starting
    assert.deepEqual([bench.failures, bench.counts.failures, bench.counts.starting], [[], 0, 0])
  })

  test('ends parked workers, and wants no more', async () => {
    const bench = new Bench({ min: 2 })
    await bench.refill()
    await bench.pool.close()
    assert.ok(bench.started.every(({ isEnded }) => isEnded))
    assert.deepEqual([bench.counts.parked, bench.pool.wantsMore, bench.counts.lost], [0, false, 0])
  })

  test('ends a worker that was being started as soon as it is ready, even if a run waits', async () => {
    const bench = new Bench({ min: 1 })
    bench.isWaitedFor = true
    const arrival = Promise.withResolvers<FakeWorker>()
    bench.start = () => arrival.promise
    const starting = bench.pool.startOne()
    await bench.pool.close()
    const worker = new FakeWorker()
    arrival.resolve(worker)
    await starting
    assert.deepEqual([worker.isEnded, bench.counts.parked, bench.offered.length], [true, 0, 0])
  })

  test('keeps no timer', async () => {
    const bench = new Bench({ min: 1 })
    await bench.failOnce()
    await bench.pool.close()
    assert.equal(bench.clock.nextMs, undefined)
    await bench.pool.startOne()
    assert.equal(bench.clock.nextMs, undefined)
  })
})
