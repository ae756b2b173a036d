/**
 * Threads of this process that parse JavaScript and TypeScript. The parser is written in JavaScript, so a program that
 * is made to break it can only make it throw. A separate thread keeps it off the event loop, has a bounded heap, and is
 * ended if a program takes too long (docs/decisions/0037-validation-reads-and-never-runs.md).
 */
import { Worker } from 'node:worker_threads'

import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { LastingPool } from '../../pool/lasting-pool.ts'
import type { Turn } from '../../pool/lasting-parts.ts'
import type { LastingWorker } from '../../runtimes/work/worker.ts'
import type { JavaScriptSource } from './analyze-javascript.ts'
import { unreadable } from './findings.ts'
import type { FoundRow } from './findings.ts'

/** Far more time than 50,000 characters of ordinary code take. */
const parseMsMax = 2000
const threadsMax = 2
const waitingMax = 1000
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }
const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? './parser-thread.ts' : './parser-thread.js',
  import.meta.url,
)

type Rows = readonly FoundRow[]

export class ParserThreads implements AsyncDisposable {
  readonly #pool: LastingPool<JavaScriptSource, Rows>

  constructor(clock: Clock) {
    const start = () => new ParserThread(clock)
    this.#pool = new LastingPool({ clock, noun: 'validation', start, workersMax: threadsMax, waitingMax })
  }

  /** Throws QUEUE_FULL, WORKER_LOST, DISPOSED, and the signal's reason. */
  async analyze(source: JavaScriptSource, turn: Turn): Promise<Rows> {
    const { end } = await this.#pool.run(source, turn)
    turn.signal?.throwIfAborted()
    return end ?? unreadable('nothing')
  }

  warmUp(): Promise<void> {
    return this.#pool.warmUp(1)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}

class ParserThread implements LastingWorker<JavaScriptSource, Rows> {
  readonly #clock: Clock
  readonly #worker: Worker
  readonly #ready = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<unknown>()
  #answer: PromiseWithResolvers<Rows> | undefined
  #isUsable = true

  constructor(clock: Clock) {
    this.#clock = clock
    this.#worker = startThread()
    this.#worker.on('message', (message: Rows | 'ready') => {
      if (message === 'ready') this.#ready.resolve()
      else this.#answer?.resolve(message)
    })
    this.#worker.on('error', (cause) => this.#lose(cause))
    this.#worker.on('exit', () => this.#lose(undefined))
    this.#worker.unref()
    this.#ready.promise.catch(() => undefined)
  }

  get lost(): Promise<unknown> {
    return this.#ended.promise
  }

  ready(): Promise<void> {
    return this.#ready.promise
  }

  /** If the thread ends, the program caused it: it cannot be read. */
  async run(source: JavaScriptSource): Promise<Rows> {
    this.#answer = Promise.withResolvers()
    const giveUp = (why: string) => {
      this.#isUsable = false
      this.#answer?.resolve(unreadable(why))
    }
    const cancel = this.#clock.after(parseMsMax, () => giveUp('taking too long'))
    void this.#ended.promise.then(() => giveUp('taking too much memory'))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
    this.#worker.postMessage(source)
    try {
      return await this.#answer.promise
    } finally {
      cancel()
    }
  }

  fits(): 'best' | 'never' {
    return this.#isUsable ? 'best' : 'never'
  }

  async end(): Promise<void> {
    this.#isUsable = false
    this.#worker.ref()
    await this.#worker.terminate()
  }

  #lose(cause: unknown): void {
    this.#isUsable = false
    this.#ended.resolve(cause)
    this.#ready.reject(
      new LazaretError('WORKER_LOST', { detail: 'A validation thread ended unexpectedly.', cause }),
    )
  }
}

/** The kernel may refuse another thread. Then the constructor throws. */
function startThread(): Worker {
  try {
    const streams = { stdout: true, stderr: true }
    return new Worker(threadFile, { ...streams, env: {}, argv: [], execArgv: [], resourceLimits })
  } catch (cause) {
    throw new LazaretError('WORKER_LOST', { detail: 'No thread could be started for validation.', cause })
  }
}
