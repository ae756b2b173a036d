/**
 * The parked workers of one shape. How many it wants follows demand: a run that finds no free worker asks for more, and
 * workers that were unused for a while are released.
 */
import type { Clock } from '../core/clock.ts'
import { nameNetwork } from '../core/network.ts'
import type { ReadyWorker } from '../runtimes/work/worker.ts'
import type { PoolSize, WorkerShape } from './shape.ts'

export interface PoolParts {
  readonly shape: WorkerShape
  readonly size: PoolSize
  readonly clock: Clock
  /** `signal` is aborted when the pool is closed. */
  readonly start: (shape: WorkerShape, signal: AbortSignal) => Promise<ReadyWorker>
  /** A worker is ready; true if a waiting run has taken it. */
  readonly offer: (worker: ReadyWorker) => boolean
  /** Called with the reason when starts begin to fail; the pool waits longer and longer between them. */
  readonly onFailing: (reason: unknown) => void
  /** Called when it wants a worker again that it could not have before. */
  readonly onWant: () => void
}

export interface PoolStats {
  readonly runtime: string
  readonly language: string
  readonly network: string
  /** Workers that wait for a run. */
  readonly parked: number
  /** Workers that are being started ahead. */
  readonly starting: number
  /** How many the pool wants to have waiting. */
  readonly wanted: number
  /** Runs that a parked worker served, and runs that found none. */
  readonly served: number
  readonly missed: number
  /** Starts that failed in a row; 0 when all is well. */
  readonly failures: number
  /** Workers that ended before a run was there for them. */
  readonly lost: number
}

/** Of all pools of a Lazaret. */
export interface PoolsStats {
  /** Runs that wait for a worker, or for room to start one. */
  readonly waiting: number
  readonly pools: readonly PoolStats[]
}

const firstPauseMs = 100
const longestPauseMs = 30_000

export class Pool {
  readonly #parts: PoolParts
  readonly #parked: ReadyWorker[] = []
  readonly #ending = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #starting = 0
  #wanted: number
  /** The fewest that were parked since the last check: this many were not needed. */
  #unused = 0
  #served = 0
  #missed = 0
  #failures = 0
  #lost = 0
  #isPausing = false
  #isClosed = false
  #endPause: () => void = () => undefined
  /** Demand is remembered from the second request on: a program that runs one thing once parks nothing. */
  #wasAsked = false
  #lastAskedAt: number

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.#wanted = parts.size.min
    this.#lastAskedAt = parts.clock.now()
  }

  get shape(): WorkerShape {
    return this.#parts.shape
  }

  get lastAskedAt(): number {
    return this.#lastAskedAt
  }

  get isEmpty(): boolean {
    return this.#parked.length + this.#starting === 0 && this.#wanted === 0
  }

  /** Whether workers of this shape are worth having. */
  get isWanted(): boolean {
    return !this.#isClosed && this.#wanted > 0
  }

  /** Whether fewer wait, or are about to, than it wants. */
  get isShort(): boolean {
    return !this.#isClosed && this.#parked.length + this.#starting < this.#wanted
  }

  /** Whether one more should be started now. */
  get wantsMore(): boolean {
    return this.isShort && !this.#isPausing
  }

  get parked(): number {
    return this.#parked.length
  }

  /** Whether one that waits could go for good: below its least a pool would start another at once. */
  get hasToSpare(): boolean {
    return this.#parked.length > 0 && this.#wanted > this.#parts.size.min
  }

  get stats(): PoolStats {
    const { runtime, language, network } = this.#parts.shape
    return {
      runtime: runtime.name,
      language,
      network: nameNetwork(network),
      parked: this.#parked.length,
      starting: this.#starting,
      wanted: this.#wanted,
      served: this.#served,
      missed: this.#missed,
      failures: this.#failures,
      lost: this.#lost,
    }
  }

  /** A worker for a run that has come; undefined when none waits. */
  take(): ReadyWorker | undefined {
    this.#lastAskedAt = this.#parts.clock.now()
    const worker = this.#parked.shift()
    this.#unused = Math.min(this.#unused, this.#parked.length)
    if (worker !== undefined) this.#served++
    else {
      this.#missed++
      if (this.#wasAsked) this.#wanted = Math.min(this.#parts.size.max, Math.max(1, this.#wanted * 2))
    }
    this.#wasAsked = true
    return worker
  }

  /** Wants at least this many, as far as the size allows. */
  want(count: number): void {
    this.#wanted = Math.min(this.#parts.size.max, Math.max(this.#wanted, count))
  }

  /** Starts one more, unless the pool is closed meanwhile. Rejects when that failed; the pool remembers it for itself. */
  async startOne(): Promise<void> {
    this.#starting++
    let worker: ReadyWorker
    try {
      worker = await this.#parts.start(this.#parts.shape, this.#closing.signal)
    } catch (error) {
      if (this.#isClosed) return
      this.#fail(error)
      throw error
    } finally {
      this.#starting--
    }
    this.#failures = 0
    if (this.#isClosed) await worker[Symbol.asyncDispose]()
    else if (this.#parts.offer(worker)) this.#served++
    else this.#park(worker)
  }

  /** Gives up one worker, because another shape needs its place. */
  giveUpOne(): void {
    const worker = this.#parked.shift()
    if (worker === undefined) return
    this.#wanted = Math.max(this.#parts.size.min, this.#wanted - 1)
    this.#unused = Math.min(this.#unused, this.#parked.length)
    this.#end(worker)
  }

  /** Releases half of the workers that were not needed since the last check. */
  shrink(): void {
    const surplus = Math.min(this.#unused, Math.max(0, this.#wanted - this.#parts.size.min))
    const given = Math.ceil(surplus / 2)
    this.#wanted -= given
    for (const worker of this.#parked.splice(0, Math.min(given, this.#parked.length))) this.#end(worker)
    this.#unused = this.#parked.length
  }

  /** Ends waiting and starting workers. Resolves when nothing of the waiting ones is left. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#closing.abort()
    this.#endPause()
    for (const worker of this.#parked.splice(0)) this.#end(worker)
    while (this.#ending.size > 0) await Promise.allSettled(this.#ending)
  }

  #park(worker: ReadyWorker): void {
    this.#parked.push(worker)
    void worker.lost.then(() => this.#lose(worker))
  }

  #lose(worker: ReadyWorker): void {
    const at = this.#parked.indexOf(worker)
    if (at < 0) return
    this.#parked.splice(at, 1)
    this.#lost++
    this.#end(worker)
    // A worker that ended unexpectedly may do so again at once: no faster than a start that fails.
    this.#fail(new Error('A worker that waited for its run ended.'))
  }

  #end(worker: ReadyWorker): void {
    const ending = worker[Symbol.asyncDispose]().catch(() => undefined)
    this.#ending.add(ending)
    void ending.then(() => this.#ending.delete(ending))
  }

  #fail(reason: unknown): void {
    this.#failures++
    if (this.#failures === 1) this.#parts.onFailing(reason)
    if (this.#isPausing || this.#isClosed) return
    this.#isPausing = true
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures - 1, 20))
    const cancel = this.#parts.clock.every(pauseMs, () => {
      this.#endPause()
      this.#parts.onWant()
    })
    this.#endPause = () => {
      cancel()
      this.#isPausing = false
    }
  }
}
