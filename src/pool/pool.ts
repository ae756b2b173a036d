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
  /** Called when a worker is ready; returns true if a waiting run has taken it. */
  readonly offer: (worker: ReadyWorker) => boolean
  /** Called with the reason when starts begin to fail; the pool waits longer and longer between them. */
  readonly onFailing: (reason: unknown) => void
  /** Called when the pool wants a worker again after a pause. */
  readonly onWant: () => void
}

export interface PoolStats {
  readonly runtime: string
  readonly language: string
  readonly network: string
  /** The number of parked workers. */
  readonly parked: number
  /** The number of workers that are being started ahead. */
  readonly starting: number
  /** The number of parked workers that the pool wants. */
  readonly wanted: number
  /** How many runs found a parked worker, and how many did not. */
  readonly served: number
  readonly missed: number
  /** The number of starts that failed in a row; 0 after a success. */
  readonly failures: number
  /** The number of workers that ended before they had a run. */
  readonly lost: number
}

/** The statistics of all pools of a Lazaret. */
export interface PoolsStats {
  /** The number of runs that wait for a worker, or for permission to start one. */
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
  /** The smallest number of parked workers since the last check: this many were not needed. */
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

  /** Whether the pool should keep workers of this shape. */
  get isWanted(): boolean {
    return !this.#isClosed && this.#wanted > 0
  }

  /** Whether fewer workers are parked or starting than it wants. */
  get isShort(): boolean {
    return !this.#isClosed && this.#parked.length + this.#starting < this.#wanted
  }

  /** Whether the pool should start one more worker now. */
  get wantsMore(): boolean {
    return this.isShort && !this.#isPausing
  }

  get parked(): number {
    return this.#parked.length
  }

  /** Whether a parked worker can be given up. Below its minimum, the pool would start another at once. */
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

  /** Takes a parked worker for a run; undefined if there is none. */
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

  /** Raises the wanted number to at least this one, up to the pool's size. */
  want(count: number): void {
    this.#wanted = Math.min(this.#parts.size.max, Math.max(this.#wanted, count))
  }

  /**
   * Starts one more worker, unless the pool is closed in the meantime. Rejects if that failed; the pool has then
   * recorded the failure.
   */
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

  /** Ends one parked worker, because another shape needs its place. */
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

  /** Ends parked and starting workers. Resolves when nothing of the parked ones is left. */
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
    // The next worker may end unexpectedly too, so this counts as a failed start.
    this.#fail(new Error('A parked worker ended before its run.'))
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
