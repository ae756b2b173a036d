/**
 * All pools of one Lazaret, and the gate before every start. Workers are started ahead only while nobody waits for one,
 * so that parking never takes the processor from a run; which shapes are worth it, demand says.
 */
import { availableParallelism } from 'node:os'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import { behindBestWall } from '../jail/best-wall.ts'
import type { BestWall } from '../jail/best-wall.ts'
import { ownView } from '../jail/place.ts'
import type { Place } from '../jail/place.ts'
import type { Bind } from '../jail/shape.ts'
import { ParkedWorker } from '../runtimes/parked.ts'
import { runInCell } from '../runtimes/run-in-cell.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'
import { Lease } from './lease.ts'
import { Pool } from './pool.ts'
import type { PoolStats } from './pool.ts'
import { canBeParked, defaultPoolSize, parkRequestOf, shapeOf } from './shape.ts'
import type { PoolSizes, ShapeRequest, WorkerShape } from './shape.ts'
import { StartGate } from './start-gate.ts'
import { Zygotes } from './zygotes.ts'

export interface PoolsParts {
  readonly wall: BestWall
  readonly clock: Clock
  readonly toolchains: Toolchains
  readonly readable: readonly Bind[]
  readonly sizes: PoolSizes
  /** Limits of a request that asks for none. */
  readonly usual: Limits
  readonly onFailing: (shape: WorkerShape, reason: unknown) => void
}

export interface LeaseRequest {
  readonly request: RunRequest
  readonly limits: Limits
  readonly runtime: Runtime
  readonly signal: AbortSignal
}

/** Shapes with a pool at one time; the one that was asked for longest ago goes first. */
const poolsMax = 16
/** Workers parked at one time, of all shapes together. */
const parkedMax = 32
/** The answer to a run goes before the start of the next worker; a run that takes long is not waited for. */
const refillDelayMs = 1
const refillDelayWhileRunningMs = 25
const shrinkEveryMs = 10_000

export class Pools implements AsyncDisposable {
  readonly #parts: PoolsParts
  readonly #pools = new Map<string, Pool>()
  readonly #gate = new StartGate<ParkedWorker>(2 * availableParallelism())
  readonly #refillsMax = Math.max(1, availableParallelism() - 1)
  readonly #closing = new Set<Promise<void>>()
  readonly #refilling = new Set<Promise<void>>()
  readonly #zygotes: Zygotes
  #isRefillDue = false
  #isClosed = false
  #stopShrinking: (() => void) | undefined

  constructor(parts: PoolsParts) {
    this.#parts = parts
    this.#zygotes = new Zygotes({ ...parts, machine: parts.wall.machine })
    this.#gate.onIdle = () => this.#refillSoon()
  }

  get stats(): { readonly waiting: number; readonly pools: readonly PoolStats[] } {
    return { waiting: this.#gate.waiting, pools: [...this.#pools.values()].map((pool) => pool.stats) }
  }

  /** Waits until there is a worker, or room to start one. A request that is cancelled meanwhile gives up its place. */
  async lease({ request, limits, runtime, signal }: LeaseRequest): Promise<Lease> {
    const shape = this.shapeOf(request, runtime, limits)
    const pool = canBeParked(request, runtime) ? this.#poolOf(shape) : undefined
    const asking = { client: request.client ?? '', key: pool === undefined ? '' : shape.key, signal }
    const turn = () => this.#gate.enter(asking)
    const { toolchains, readable, wall, clock } = this.#parts
    const prepare = (place: Place) => runtime.prepare(request, limits, { toolchains, place })
    const parts = { request: { ...request, signal }, limits, runtime, prepare, turn }
    const runCold = (onStarted: () => void) =>
      behindBestWall(wall, (place) => {
        const context = { machine: wall.machine, clock, limits, readable, place, onStarted }
        return runInCell(prepare(place), parts.request, context)
      })
    const worker = pool?.take()
    const fork = async () =>
      pool?.isWanted === true && canFork(shape) && this.#zygotes.stands(shape.preload)
        ? this.#fork(shape, signal)
        : null
    const lease = { ...parts, runCold, fork, onEnd: this.#refillLater() }
    if (worker !== undefined) return new Lease(lease, { worker })
    const isAtOnce = this.#gate.isIdle
    const askedAt = clock.now()
    const got = await turn()
    return new Lease(lease, got, isAtOnce ? 0 : clock.now() - askedAt)
  }

  shapeOf(request: ShapeRequest, runtime: Runtime, limits: Limits): WorkerShape {
    const { usual, wall } = this.#parts
    return shapeOf(request, runtime, {
      limits,
      usual,
      memoryHeldByCgroup: wall.machine.cgroupVersion !== null,
    })
  }

  /** Resolves when so many workers of this shape wait, as far as the pool's size allows; rejects when one cannot start. */
  async warmUp(shape: WorkerShape, count: number): Promise<void> {
    const pool = this.#poolOf(shape)
    if (pool === undefined) return
    pool.want(count)
    // Also while it pauses, because somebody waits for the answer; and again where what was under way has failed.
    const canHaveMore = () => pool.isShort && (this.#parked < parkedMax || this.#makeRoomFor(pool))
    do {
      while (canHaveMore()) await this.#refill(pool)
      await Promise.allSettled(this.#refilling)
    } while (canHaveMore())
  }

  /** Ends what is parked or is being parked. Resolves when nothing of it is left; runs that go on are not touched. */
  async drain(): Promise<void> {
    const all = [...this.#pools.keys()]
    for (const key of all) this.#close(key)
    // Before what is being started, which may wait for one.
    const zygotes = this.#zygotes.close()
    await Promise.allSettled(this.#refilling)
    await Promise.allSettled(this.#closing)
    await zygotes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const calmDown = this.#zygotes.endGuestsLater()
    await this.drain()
    await this.#zygotes[Symbol.asyncDispose]().finally(calmDown)
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
      start: (wanted, signal) => this.#park(wanted, signal),
      offer: (worker) => this.#gate.offer(shape.key, worker),
      onFailing: (reason) => onFailing(shape, reason),
      onWant: () => this.#refillSoon(),
    })
    this.#pools.set(shape.key, pool)
    this.#stopShrinking ??= clock.every(shrinkEveryMs, () => this.#shrink())
    return pool
  }

  async #park(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker> {
    const { runtime, language, network, limits } = shape
    const { wall, clock, toolchains, readable } = this.#parts
    const { machine } = wall
    const park = parkRequestOf(shape)
    const forked = canFork(shape) ? await this.#fork(shape, signal) : null
    if (forked !== null) return forked
    if (signal.aborted) throw new LazaretError('DISPOSED')
    return behindBestWall(wall, (place) => {
      const program = runtime.prepare({ language, code: '' }, limits, { toolchains, place })
      return ParkedWorker.park(program, { machine, clock, limits, readable, place, network, park, signal })
    })
  }

  /** The best road to a worker of Python's; null where it is closed, or full. */
  async #fork({ runtime, preload, limits }: WorkerShape, signal: AbortSignal): Promise<ParkedWorker | null> {
    const { wall, clock, toolchains, readable } = this.#parts
    const { machine } = wall
    if (machine.wall !== 'namespaces') return null
    const zygote = await this.#zygotes.take(preload)
    if (zygote === null) return null
    const program = runtime.prepare({ language: 'python', code: '' }, limits, { toolchains, place: ownView })
    const park = { park: 'python', preload } as const
    const context = {
      machine,
      clock,
      limits,
      readable,
      place: ownView,
      network: 'none',
      park,
      signal,
      zygote,
    } as const
    try {
      return await ParkedWorker.park(program, context)
    } catch {
      if (!signal.aborted) this.#zygotes.giveUp(preload)
      return null
    }
  }

  /** When what it returns is called, or after a while. */
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

  /** The one that was asked last of those that want more. */
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

  /** Gives up a worker that was asked for longest ago; false when no other pool has one to spare. */
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
    if (![...this.#pools.values()].some(({ stats }) => stats.runtime === 'python')) void this.#zygotes.close()
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

const canFork = ({ runtime, network }: WorkerShape): boolean =>
  runtime.name === 'python' && network === 'none'
