/** Warm threads of the `snippet` runtime. One program at a time has a thread; one that does not end costs its thread. */
import { availableParallelism } from 'node:os'

import { holdProcess } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { compileEngine } from '../runtimes/snippet/engine-module.ts'
import type { SnippetJob } from '../runtimes/snippet/thread-protocol.ts'
import { canServe, nothingUsed, SnippetThread } from '../runtimes/snippet/thread.ts'
import type { SnippetExit } from '../runtimes/snippet/thread.ts'
import { FairQueue } from './fair-queue.ts'

export interface ThreadsOptions {
  readonly clock: Clock
  /** At one time, busy or not. One takes some 10 MiB. Default: one a core, from 2 to 8. */
  readonly threadsMax?: number | undefined
  /** Programs that wait for a thread. */
  readonly waitingMax?: number
}

/** What one program needs besides its job. */
export interface ThreadTurn {
  /** Counted from the program's start: waiting for a thread takes nothing of it. */
  readonly wallMs: number
  readonly signal?: AbortSignal | undefined
  /** Clients have their turns one after another. */
  readonly client?: string | undefined
}

export interface ThreadsExit extends SnippetExit {
  readonly queuedMs: number
  readonly start: 'cold' | 'parked'
}

/** How often threads that nobody needed in the meantime are ended. One stays. */
const idleMs = 30_000

const usualThreadsMax = (): number => Math.min(Math.max(availableParallelism(), 2), 8)

interface Waiter {
  readonly client: string
  readonly turn: PromiseWithResolvers<SnippetThread | null>
}

export class Threads implements AsyncDisposable {
  readonly #clock: Clock
  readonly #threadsMax: number
  readonly #waitingMax: number
  /** With its number, in the order of their starts. */
  readonly #threads = new Map<SnippetThread, number>()
  readonly #idle: SnippetThread[] = []
  readonly #waiting = new FairQueue<Waiter>()
  readonly #ending = new Set<Promise<void>>()
  /** How many were idle all the time since the last look. */
  #spare = 0
  #stopLooking: (() => void) | undefined
  #isDisposed = false
  #starts = 0

  constructor({ clock, threadsMax = usualThreadsMax(), waitingMax = 1000 }: ThreadsOptions) {
    this.#clock = clock
    this.#threadsMax = threadsMax
    this.#waitingMax = waitingMax
  }

  /** Throws QUEUE_FULL, WORKER_LOST, DISPOSED; what the program does is a value. */
  async run(job: SnippetJob, turn: ThreadTurn): Promise<ThreadsExit> {
    const askedAt = this.#clock.now()
    const startsBefore = this.#starts
    const thread = await this.#take(turn)
    const queuedMs = this.#clock.now() - askedAt
    const isCancelled = turn.signal?.aborted === true
    // It was aborted after the thread had been found: nothing has run in that.
    if (isCancelled && thread !== null) this.#offer(thread)
    if (isCancelled || thread === null)
      return { end: { kind: 'cancelled' }, usage: nothingUsed, queuedMs, start: 'cold' }
    const start = (this.#threads.get(thread) ?? 0) > startsBefore ? 'cold' : 'parked'
    const exit = await this.#runIn(thread, job, turn)
    return { ...exit, queuedMs, start }
  }

  /** Programs that wait for a thread. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when `count` threads, or as many as there may be, wait for programs. Throws WORKER_LOST, DISPOSED. */
  async warmUp(count: number): Promise<void> {
    const wanted = Math.min(count, this.#threadsMax)
    const turns = await Promise.allSettled(Array.from({ length: wanted }, () => this.#take({})))
    for (const turn of turns) if (turn.status === 'fulfilled' && turn.value !== null) this.#offer(turn.value)
    for (const turn of turns) if (turn.status === 'rejected') throw turn.reason
  }

  /** Ends the threads that wait for programs. */
  async drain(): Promise<void> {
    for (const thread of this.#idle.splice(0)) this.#end(thread)
    await Promise.all(this.#ending)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    this.#stopLooking?.()
    this.#refuseWaiting(new LazaretError('DISPOSED'))
    for (const thread of this.#threads.keys()) this.#end(thread)
    while (this.#ending.size > 0) await Promise.all(this.#ending)
  }

  async #runIn(thread: SnippetThread, job: SnippetJob, turn: ThreadTurn): Promise<SnippetExit> {
    let isUsable = false
    try {
      const exit = await thread.run(job, { clock: this.#clock, ...turn })
      isUsable = canServe(exit)
      return exit
    } catch (error) {
      throw this.#isDisposed ? new LazaretError('DISPOSED') : error
    } finally {
      if (isUsable) void this.#offerWhenReady(thread)
      else {
        this.#end(thread)
        // In its place: the next program is not to wait longer than this one did.
        if (!this.#isDisposed) this.#start()
      }
    }
  }

  /** Null when the signal was first. */
  async #take({ signal, client = '' }: Pick<ThreadTurn, 'signal' | 'client'>): Promise<SnippetThread | null> {
    if (signal?.aborted === true) return null
    if (this.#isDisposed) throw new LazaretError('DISPOSED')
    const idle = this.#idle.pop()
    this.#spare = Math.min(this.#spare, this.#idle.length)
    if (idle !== undefined) return idle
    if (this.#waiting.length >= this.#waitingMax)
      throw new LazaretError('QUEUE_FULL', { detail: `${this.#waitingMax} snippets wait for a thread.` })
    const waiter = { client, turn: Promise.withResolvers<SnippetThread | null>() }
    const leave = () => {
      if (this.#waiting.remove(client, waiter)) waiter.turn.resolve(null)
    }
    signal?.addEventListener('abort', leave, { once: true })
    this.#waiting.add(client, waiter)
    if (this.#threads.size < this.#threadsMax) this.#start()
    const letGo = holdProcess(this.#clock)
    try {
      return await waiter.turn.promise
    } finally {
      letGo()
      signal?.removeEventListener('abort', leave)
    }
  }

  #start(): void {
    let thread
    try {
      thread = new SnippetThread(compileEngine)
    } catch (error) {
      this.#refuseOne(error)
      return
    }
    this.#threads.set(thread, ++this.#starts)
    this.#stopLooking ??= this.#clock.every(idleMs, () => this.#endSpare())
    void this.#offerWhenReady(thread)
  }

  async #offerWhenReady(thread: SnippetThread): Promise<void> {
    try {
      await thread.ready()
      this.#offer(thread)
    } catch (error) {
      this.#end(thread)
      this.#refuseOne(error)
    }
  }

  /** A thread that was started for one of those who wait is missing; without any left all would wait for ever. */
  #refuseOne(reason: unknown): void {
    this.#waiting.take()?.turn.reject(reason)
    if (this.#threads.size === 0) this.#refuseWaiting(reason)
  }

  #refuseWaiting(reason: unknown): void {
    for (let waiter = this.#waiting.take(); waiter !== undefined; waiter = this.#waiting.take())
      waiter.turn.reject(reason)
  }

  #offer(thread: SnippetThread): void {
    const waiter = this.#waiting.take()
    if (waiter === undefined) this.#idle.push(thread)
    else waiter.turn.resolve(thread)
  }

  #end(thread: SnippetThread): void {
    this.#threads.delete(thread)
    const ended = thread.end()
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  #endSpare(): void {
    const count = Math.min(this.#spare, this.#threads.size - 1)
    for (const thread of this.#idle.splice(0, Math.max(count, 0))) this.#end(thread)
    this.#spare = this.#idle.length
  }
}
