/** A bounded number of workers that execute programs in isolates, with a queue, on their own Lazaret. */
import { openEngine } from '../../engine/lazaret.ts'
import type { OpenEngine } from '../../engine/lazaret.ts'
import type { SlotEvent } from '../../pool/slots.ts'
import { readLibraries } from './libraries.ts'
import { readOptions } from './read-options.ts'
import type { ReadOptions } from './read-options.ts'
import { performIn } from './perform.ts'
import { readParams } from './read-params.ts'
import type { CodeExecutionParams, CodeExecutionResult, PoolStats, WorkerPoolOptions } from './types.ts'
import { explainThrown, shuttingDown, writeRefusal } from './write-result.ts'

/** How long running programs may take to end when the pool is shut down. */
const drainMs = 5000

export class WorkerPool implements AsyncDisposable {
  readonly #options: ReadOptions
  #engine: OpenEngine | undefined
  #warm: Promise<void> | undefined
  #closing: Promise<void> | undefined
  readonly #running = new Set<Promise<unknown>>()

  /** Throws INVALID_REQUEST for invalid options. */
  constructor(options: WorkerPoolOptions = {}) {
    this.#options = readOptions(options)
  }

  /** Resolves when all workers are ready. Throws RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST. */
  initialize(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.then(() => this.initialize())
    if (this.#warm !== undefined) return this.#warm
    const warm = this.#start().catch((error: unknown) => {
      // Unless the pool was shut down and started again in the meantime.
      if (this.#warm === warm) this.#warm = undefined
      throw error
    })
    this.#warm = warm
    return warm
  }

  /** Never rejects. */
  async execute(params: CodeExecutionParams): Promise<CodeExecutionResult> {
    const asked = readParams(params)
    if (typeof asked === 'string') return writeRefusal(asked)
    if (this.#closing !== undefined) return writeRefusal(shuttingDown, asked)
    let engine: OpenEngine
    try {
      if (this.#warm === undefined) await this.initialize()
      if (this.#engine === undefined) return writeRefusal(shuttingDown, asked)
      engine = this.#engine
    } catch (error) {
      return writeRefusal(explainThrown(error, 0), asked)
    }
    const execution = performIn(engine, asked)
    this.#running.add(execution)
    void execution.then(() => this.#running.delete(execution))
    return execution
  }

  /** Correct before `initialize()`, while the pool serves, and after `shutdown()`. */
  getStats(): PoolStats {
    const { total, active, busy } = this.#engine?.isolates.counts ?? { total: 0, active: 0, busy: 0 }
    return {
      totalWorkers: total,
      activeWorkers: active,
      busyWorkers: busy,
      queueLength: this.#engine?.isolates.waiting ?? 0,
    }
  }

  /**
   * Refuses queued programs, gives running ones five seconds, and ends the workers. `initialize()` works again
   * afterwards.
   */
  shutdown(): Promise<void> {
    const engine = this.#engine
    if (engine === undefined && this.#warm === undefined) return this.#closing ?? Promise.resolve()
    this.#engine = undefined
    this.#warm = undefined
    this.#closing = this.#end(engine).finally(() => {
      this.#closing = undefined
    })
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  async #start(): Promise<void> {
    const { poolSize, maxQueueSize, crashes, engine: options } = this.#options
    const engine = openEngine(options, {
      workersMax: poolSize,
      workersMin: poolSize,
      waitingMax: maxQueueSize,
      crashes,
      libraries: readLibraries(this.#options),
      onEvent: (event) => this.#tell(event),
    })
    this.#engine = engine
    try {
      await engine.lazaret.warmUp({ language: 'javascript', runtime: 'isolate', count: poolSize })
    } catch (error) {
      if (this.#engine === engine) this.#engine = undefined
      await engine.lazaret[Symbol.asyncDispose]()
      throw error
    }
  }

  async #end(engine: OpenEngine | undefined): Promise<void> {
    if (engine === undefined) return
    engine.isolates.close()
    const late = Promise.withResolvers<void>()
    const cancel = engine.clock.after(drainMs, late.resolve)
    await Promise.race([Promise.all(this.#running), late.promise])
    cancel()
    await engine.lazaret[Symbol.asyncDispose]()
  }

  #tell(event: SlotEvent): void {
    const { onEvent, logger } = this.#options
    const { slot, to, reason } = event
    try {
      if (to === 'crashed') logger?.warn(`Worker ${slot} crashed: ${reason}`)
      if (to === 'disabled') logger?.error(`Worker ${slot} is disabled: ${reason}`)
      onEvent?.(event)
    } catch {
      // An error of an observer must not lose a worker's state.
    }
  }
}
