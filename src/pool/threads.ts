/** Warm threads of the `snippet` runtime. A thread runs one program at a time. Ending a program ends its thread. */
import { availableParallelism } from 'node:os'

import type { Clock } from '../core/clock.ts'
import { compileEngine } from '../runtimes/snippet/engine-module.ts'
import type { SnippetJob } from '../runtimes/snippet/thread-protocol.ts'
import { canServe, nothingUsed, SnippetThread } from '../runtimes/snippet/thread.ts'
import type { Deadline, SnippetExit } from '../runtimes/snippet/thread.ts'
import type { LastingWorker } from '../runtimes/work/worker.ts'
import { LastingPool } from './lasting-pool.ts'
import type { Served } from './lasting-parts.ts'

export interface ThreadsOptions {
  readonly clock: Clock
  /**
   * The number of threads at one time, busy or not. Each takes some 10 MiB. Default: one for each core, from 2 to 8.
   */
  readonly threadsMax?: number | undefined
  /** The number of programs that wait for a thread. */
  readonly waitingMax?: number
}

/** What the pool needs to know about a program besides its job. */
export interface ThreadTurn {
  /** Counted from the program's start; time in the queue does not count. */
  readonly wallMs: number
  readonly signal?: AbortSignal | undefined
  /** The client, because clients are served in turn. */
  readonly client?: string | undefined
}

export interface ThreadsExit extends SnippetExit, Pick<Served<never>, 'queuedMs' | 'start'> {}

interface ThreadJob {
  readonly job: SnippetJob
  readonly deadline: Deadline
}

const usualThreadsMax = (): number => Math.min(Math.max(availableParallelism(), 2), 8)

export class Threads implements AsyncDisposable {
  readonly #clock: Clock
  readonly #pool: LastingPool<ThreadJob, SnippetExit>

  constructor({ clock, threadsMax = usualThreadsMax(), waitingMax = 1000 }: ThreadsOptions) {
    this.#clock = clock
    const start = () => new LastingThread()
    this.#pool = new LastingPool({ clock, noun: 'snippet', start, workersMax: threadsMax, waitingMax })
  }

  /** Throws QUEUE_FULL, WORKER_LOST, DISPOSED; what the program does is a value. */
  async run(job: SnippetJob, turn: ThreadTurn): Promise<ThreadsExit> {
    const { end, ...served } = await this.#pool.run({ job, deadline: { clock: this.#clock, ...turn } }, turn)
    return { ...(end ?? { end: { kind: 'cancelled' }, usage: nothingUsed }), ...served }
  }

  /** The number of programs that wait for a thread. */
  get waiting(): number {
    return this.#pool.waiting
  }

  /** Resolves when `count` threads, or as many as there may be, wait for programs. Throws WORKER_LOST, DISPOSED. */
  warmUp(count: number): Promise<void> {
    return this.#pool.warmUp(count)
  }

  /** Ends the threads that wait for programs. */
  drain(): Promise<void> {
    return this.#pool.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}

/** Serves any client, because each program gets a fresh VM. */
class LastingThread implements LastingWorker<ThreadJob, SnippetExit> {
  readonly #thread = new SnippetThread(compileEngine)
  #isUsable = true

  ready(): Promise<void> {
    return this.#thread.ready()
  }

  async run({ job, deadline }: ThreadJob): Promise<SnippetExit> {
    this.#isUsable = false
    const exit = await this.#thread.run(job, deadline)
    this.#isUsable = canServe(exit)
    return exit
  }

  fits(): 'best' | 'never' {
    return this.#isUsable ? 'best' : 'never'
  }

  end(): Promise<void> {
    return this.#thread.end()
  }
}
