/**
 * All pools of one Lazaret, and the gate before every start. Workers are started ahead only while no run waits for one,
 * so that parking never takes the processor from a run. Demand decides for which shapes.
 */
import { availableParallelism } from 'node:os'

import type { Limits } from '../core/limits.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
import type { Job } from '../runtimes/work/guest-start.ts'
import type { GuestEnvironment } from '../runtimes/packages/guest-packages.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { ReadyWorker, Worker } from '../runtimes/work/worker.ts'
import { CellWorkers } from './cell-workers.ts'
import type { CellWorkersParts } from './cell-workers.ts'
import { Lease } from './lease.ts'
import { Pool } from './pool.ts'
import type { PoolsStats } from './pool.ts'
import { canBeParked, defaultPoolSize, shapeOf } from './shape.ts'
import type { ShapeRequest, WorkerShape } from './shape.ts'
import { StartGate } from './start-gate.ts'
import type { Turn } from './start-gate.ts'

export interface PoolsParts extends CellWorkersParts {
  readonly onFailing: (shape: WorkerShape, reason: unknown) => void
}

export interface LeaseRequest {
  readonly job: Job
  readonly runtime: Runtime
  readonly environment?: GuestEnvironment | undefined
}

/** Which workers a job can use. */
interface Wanted {
  readonly shape: WorkerShape
  /** Undefined if no worker for it can be parked. */
  readonly pool: Pool | undefined
  readonly signal: AbortSignal
}

/** The number of pools at one time. The least recently requested one is dropped first. */
export const poolsMax = 16
/** The number of parked workers of all shapes together. */
export const parkedMax = 32
/** The next worker starts after the answer to the run, or after a while if the run takes long. */
const refillDelayMs = 1
const refillDelayWhileRunningMs = 25
export const shrinkEveryMs = 10_000

export class Pools implements AsyncDisposable {
  readonly #parts: PoolsParts
  readonly #pools = new Map<string, Pool>()
  readonly #gate = new StartGate<ReadyWorker>(2 * availableParallelism())
  readonly #refillsMax = Math.max(1, availableParallelism() - 1)
  readonly #closing = new Set<Promise<void>>()
  readonly #refilling = new Set<Promise<void>>()
  readonly #workers: CellWorkers
  #isRefillDue = false
  #isClosed = false
  #stopShrinking: (() => void) | undefined

  constructor(parts: PoolsParts) {
    this.#parts = parts
    this.#workers = new CellWorkers(parts)
    this.#gate.onIdle = () => this.#refillSoon()
  }

  get stats(): PoolsStats {
    return { waiting: this.#gate.waiting, pools: [...this.#pools.values()].map((pool) => pool.stats) }
  }

  /**
   * Waits until there is a worker, or permission to start one. A job that is cancelled in the meantime loses its place.
   */
  async lease({ job, runtime, environment }: LeaseRequest): Promise<Lease> {
    const { clock } = this.#parts
    const shape = this.shapeOf({ ...job.spec, environment }, runtime, job.limits)
    // A parked cell has no certificate files, and its relay knows no secret proxy.
    const mayWait = job.handles.secrets === undefined && canBeParked(job.spec, runtime)
    const pool = mayWait ? this.#poolOf(shape) : undefined
    const { client = '' } = job.spec
    const { signal } = job.handles
    const enter = () => this.#gate.enter({ client, key: pool === undefined ? '' : shape.key, signal })
    const another = async () => this.#workerFor(await enter(), { shape, pool, signal })
    const onEnd = this.#refillLater()
    const parked = pool?.take()
    if (parked !== undefined) return new Lease({ worker: parked, queuedMs: 0, another, onEnd })
    const isAtOnce = this.#gate.isIdle
    const askedAt = clock.now()
    const turn = await enter()
    const queuedMs = isAtOnce ? 0 : clock.now() - askedAt
    const worker = await this.#workerFor(turn, { shape, pool, signal })
    return new Lease({ worker, queuedMs, another, onEnd })
  }

  /**
   * A worker that became free; or a fork, which is ready sooner than a cell; or a worker that is started for the run.
   */
  async #workerFor(turn: Turn<ReadyWorker>, { shape, pool, signal }: Wanted): Promise<Worker | null> {
    if (turn === null) return null
    if ('worker' in turn) return turn.worker
    const fork = pool?.isWanted === true ? await this.#workers.forkAtOnce(shape, signal) : null
    if (fork === null) return this.#workers.cold(shape, turn.leave)
    turn.leave()
    return fork
  }

  shapeOf(request: ShapeRequest, runtime: Runtime, limits: Limits): WorkerShape {
    const { usual, wall, sizes } = this.#parts
    return shapeOf(request, runtime, {
      limits,
      usual,
      ...(wall.machine.wall === 'namespaces' && { sizes }),
      memoryHeldByCgroup: limitMechanisms(wall.machine).memoryBytes === 'cgroup',
    })
  }

  /**
   * Resolves when this many workers of this shape wait, as far as the pool's size allows; rejects when one cannot
   * start.
   */
  async warmUp(shape: WorkerShape, count: number): Promise<void> {
    const pool = this.#poolOf(shape)
    if (pool === undefined) return
    pool.want(count)
    // Starts workers even while the pool pauses, because a caller waits; and starts again if a start that was under way
    // has failed.
    const canHaveMore = () => pool.isShort && (this.#parked < parkedMax || this.#makeRoomFor(pool))
    do {
      while (canHaveMore()) await this.#refill(pool)
      await Promise.allSettled(this.#refilling)
    } while (canHaveMore())
  }

  /**
   * Ends parked workers and those that are being parked. Resolves when nothing of them is left; current runs are not
   * affected.
   */
  async drain(): Promise<void> {
    const all = [...this.#pools.keys()]
    for (const key of all) this.#close(key)
    // Ends zygotes first, because starting workers may wait for one.
    const zygotes = this.#workers.closeZygotes()
    await Promise.allSettled(this.#refilling)
    await Promise.allSettled(this.#closing)
    await zygotes
    // Zygotes whose guests were parked have no guests now.
    await this.#workers.closeZygotes()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const calmDown = this.#workers.endGuestsLater()
    await this.drain()
    await this.#workers[Symbol.asyncDispose]().finally(calmDown)
  }

  #poolOf(shape: WorkerShape): Pool | undefined {
    const { clock, sizes, onFailing } = this.#parts
    const size = { ...defaultPoolSize, ...sizes[shape.runtime.name] }
    if (size.max === 0 || this.#isClosed) return undefined
    const known = this.#pools.get(shape.key)
    if (known !== undefined) return known
    if (this.#pools.size >= poolsMax) this.#closeOldest()
    const pool: Pool = new Pool({
      shape,
      size,
      clock,
      start: (wanted, signal) => this.#workers.park(wanted, signal),
      offer: (worker) => this.#gate.offer(shape.key, worker),
      onFailing: (reason) => onFailing(shape, reason),
      onWant: () => this.#refillSoon(),
    })
    this.#pools.set(shape.key, pool)
    this.#stopShrinking ??= clock.every(shrinkEveryMs, () => this.#shrink())
    return pool
  }

  /** Refills when the returned function is called, or after a while. */
  #refillLater(): () => void {
    const soon = () => this.#refillSoon()
    const cancel = this.#parts.clock.after(refillDelayWhileRunningMs, soon)
    return () => {
      cancel()
      soon()
    }
  }

  #refillSoon(): void {
    if (this.#isRefillDue || this.#isClosed) return
    this.#isRefillDue = true
    this.#parts.clock.after(refillDelayMs, () => {
      this.#isRefillDue = false
      this.#refillSome()
    })
  }

  #refillSome(): void {
    while (this.#gate.isIdle && this.#refilling.size < this.#refillsMax) {
      const pool = this.#nextToRefill()
      if (pool === undefined) return
      void this.#refill(pool).then(
        () => this.#refillSoon(),
        () => this.#refillSoon(),
      )
    }
  }

  /** Among the pools that want more workers, the most recently requested one. */
  #nextToRefill(): Pool | undefined {
    if (this.#isClosed || this.#parked >= parkedMax) return undefined
    return [...this.#pools.values()]
      .filter(({ wantsMore }) => wantsMore)
      .toSorted((a, b) => b.lastAskedAt - a.lastAskedAt)[0]
  }

  #refill(pool: Pool): Promise<void> {
    const leave = this.#gate.start()
    const refill = pool.startOne().finally(() => {
      this.#refilling.delete(refill)
      leave()
    })
    this.#refilling.add(refill)
    refill.catch(() => undefined)
    return refill
  }

  /** Ends a parked worker of the least recently requested pool that can spare one. False if there is none. */
  #makeRoomFor(pool: Pool): boolean {
    const others = [...this.#pools.values()].filter((other) => other !== pool && other.hasToSpare)
    const [oldest] = others.toSorted((a, b) => a.lastAskedAt - b.lastAskedAt)
    oldest?.giveUpOne()
    return oldest !== undefined
  }

  get #parked(): number {
    return [...this.#pools.values()].reduce((sum, { parked }) => sum + parked, 0)
  }

  #shrink(): void {
    for (const [key, pool] of this.#pools) {
      pool.shrink()
      if (pool.isEmpty) this.#close(key)
    }
    void this.#workers.closeZygotes([...this.#pools.values()].map(({ shape }) => shape))
  }

  #closeOldest(): void {
    const [oldest] = [...this.#pools].toSorted(([, a], [, b]) => a.lastAskedAt - b.lastAskedAt)
    if (oldest !== undefined) this.#close(oldest[0])
  }

  #close(key: string): void {
    const pool = this.#pools.get(key)
    this.#pools.delete(key)
    if (pool === undefined) return
    const closing = pool.close()
    this.#closing.add(closing)
    void closing.then(() => this.#closing.delete(closing))
    if (this.#pools.size > 0) return
    this.#stopShrinking?.()
    this.#stopShrinking = undefined
  }
}
