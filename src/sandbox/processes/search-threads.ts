/**
 * A few threads that match regular expressions for all waits of this process. Each job may take a little processor time;
 * then its thread is ended, and only its wait fails. Jobs of one client run one after the other, so a client whose
 * patterns are slow leaves threads to the others. While nobody waits, there is no thread.
 */
import { Worker } from 'node:worker_threads'

import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { FairQueue } from '../../pool/fair-queue.ts'

/** What a thread gets. */
export interface SearchJob {
  readonly source: string
  readonly flags: string
  readonly bytes: Uint8Array
  readonly lineBytesMax: number
}

export interface Search extends Pick<SearchJob, 'source' | 'flags'> {
  readonly client: string
  /** Called when a thread is free: what waits holds no bytes. */
  readonly read: () => Promise<Uint8Array>
  /** Aborted when nobody waits any more. Then the search never resolves. */
  readonly signal: AbortSignal
}

interface Waiter {
  readonly search: Search
  readonly answer: PromiseWithResolvers<string | undefined>
}

interface Thread {
  readonly worker: Worker
  readonly online: Promise<unknown>
  waiter: Waiter | undefined
  /** Its processor time before the job, in microseconds. Undefined while it has none. */
  usedBefore: number | undefined
  /** Resolves when it has ended. Undefined while it may get a search. */
  gone: Promise<void> | undefined
}

const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? './line-search-thread.ts' : './line-search-thread.js',
  import.meta.url,
)

export const threadsMax = 2
/** The processor time for one search of at most two megabytes. Ordinary patterns take some milliseconds. */
export const searchMs = 250
const checkMs = 50
/** Of a longer line, the end is matched. */
const lineBytesMax = 64 * 1024
/** Room for one line and its pattern; the bytes of the log stand outside of the heap. */
export const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 }

export class SearchThreads {
  readonly #clock: Clock
  readonly #waiting = new FairQueue<Waiter>()
  readonly #threads = new Set<Thread>()
  #holders = 0
  #stopChecks: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keeps the threads until the returned function is called. It resolves when those that nobody needs have gone. */
  hold(): () => Promise<void> {
    this.#holders++
    return async () => {
      if (--this.#holders === 0) for (const thread of this.#threads) this.#end(thread)
      for (const { gone } of this.#threads) await gone
    }
  }

  /** The first line that matches. Throws PATTERN_TOO_SLOW. */
  async find(search: Search): Promise<string | undefined> {
    const { client, signal } = search
    const answer = Promise.withResolvers<string | undefined>()
    if (signal.aborted) return await answer.promise
    const waiter = { search, answer }
    const leave = () => {
      this.#waiting.remove(client, waiter)
      for (const thread of this.#threads) if (thread.waiter === waiter) this.#end(thread)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(client, waiter)
    this.#next()
    return await answer.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  #next(): void {
    for (;;) {
      const threads = [...this.#threads]
      const idle = threads.find(({ waiter, gone }) => waiter === undefined && gone === undefined)
      if (idle === undefined && threads.length >= threadsMax) return
      const clients = new Set(threads.map(({ waiter }) => waiter?.search.client))
      const waiter = this.#waiting.take(({ search }) => !clients.has(search.client))
      if (waiter === undefined) return
      const thread = idle ?? this.#start()
      thread.waiter = waiter
      this.#begin(thread, waiter).catch((error: unknown) => {
        // Nobody waits if the thread was ended.
        waiter.answer.reject(error)
        this.#end(thread)
      })
    }
  }

  async #begin(thread: Thread, { search }: Waiter): Promise<void> {
    const { source, flags, read } = search
    const bytes = await read()
    await thread.online
    thread.usedBefore = await usedBy(thread)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
    thread.worker.postMessage({ source, flags, bytes, lineBytesMax } satisfies SearchJob)
  }

  #start(): Thread {
    const worker = new Worker(threadFile, { env: {}, argv: [], execArgv: [], resourceLimits })
    const online = new Promise((resolve) => worker.once('online', resolve))
    const thread: Thread = { worker, online, waiter: undefined, usedBefore: undefined, gone: undefined }
    this.#threads.add(thread)
    this.#stopChecks ??= this.#clock.every(checkMs, () => this.#check())
    worker.on('message', (line: string | undefined) => {
      const { waiter } = thread
      thread.waiter = thread.usedBefore = undefined
      waiter?.answer.resolve(line)
      this.#next()
    })
    worker.on('error', (error) => {
      thread.waiter?.answer.reject(error)
      this.#end(thread)
    })
    return thread
  }

  /** The next search gets another thread when this one has gone. */
  #end(thread: Thread): void {
    thread.waiter = undefined
    thread.gone ??= this.#terminate(thread)
  }

  async #terminate(thread: Thread): Promise<void> {
    await thread.worker.terminate()
    this.#threads.delete(thread)
    if (this.#threads.size === 0) this.#stopChecks?.()
    if (this.#threads.size === 0) this.#stopChecks = undefined
    this.#next()
  }

  #check(): void {
    for (const thread of this.#threads) this.#checkOne(thread).catch(() => undefined)
  }

  async #checkOne(thread: Thread): Promise<void> {
    const { waiter, usedBefore } = thread
    if (waiter === undefined || usedBefore === undefined) return
    const used = (await usedBy(thread)) - usedBefore
    if (thread.waiter !== waiter || used <= searchMs * 1000) return
    waiter.answer.reject(new LazaretError('PATTERN_TOO_SLOW'))
    this.#end(thread)
  }
}

async function usedBy({ worker }: Thread): Promise<number> {
  const { user, system } = await worker.cpuUsage()
  return user + system
}

/** One process has a few threads, whatever it has to search. */
export const searchThreads = new SearchThreads(systemClock)
