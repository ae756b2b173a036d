/** The host's side of one thread. It serves one program at a time, and is ended with a program that does not end. */
import { existsSync } from 'node:fs'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { unbundle } from '../../core/errors/unbundle.ts'
import type { EngineModule } from './engine-module.ts'
import type { FromThread, ProgramEnd, SnippetJob, ThreadUsage, ToThread } from './thread-protocol.ts'

/** How a program ended: by itself, or by us. */
export type SnippetEnd =
  | ProgramEnd
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'output-full' }
  | { readonly kind: 'cancelled' }

export interface SnippetExit {
  readonly end: SnippetEnd
  readonly usage: ThreadUsage
}

export interface Deadline {
  readonly clock: Clock
  readonly wallMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Room for the host's side of a program: the strings that cross, never its linear memory. The stack is that of the
 * compiled engine, whose own guard must come first, for where this one ends depends on the machine.
 */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 }

export interface ThreadOptions {
  /** Whether it is to serve one program only. */
  readonly isForOne?: boolean
}

const guestFile = new URL(import.meta.url.endsWith('.ts') ? './guest.ts' : './guest.js', import.meta.url)

export class SnippetThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #inbox: FromThread[] = []
  #waiting: PromiseWithResolvers<FromThread> | undefined
  #failure: LazaretError | undefined

  /** `compile` is called when the thread has begun to start: both take their time. Throws WORKER_LOST, RUNTIME_UNAVAILABLE. */
  constructor(compile: () => Promise<EngineModule>, { isForOne = false }: ThreadOptions = {}) {
    requireGuestFile()
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = startWorker({ port: port2, isForOne }, port1)
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', () => this.#fail(undefined))
    this.#port.on('message', (message: FromThread) => this.#take(message))
    // Its waiting callers have timers, and those keep the process alive.
    this.#worker.unref()
    this.#port.unref()
    compile().then(
      (compiled) => this.#send({ type: 'module', module: compiled }),
      (cause: unknown) => this.#fail(cause),
    )
  }

  /** Resolves when a fresh VM waits for a program. Throws WORKER_LOST. */
  async ready(): Promise<void> {
    const message = await this.#next()
    if (message.type !== 'ready') throw lost(message)
  }

  /** The thread must be ready. It is ready again, or has to be ended, see `canServe`. Throws WORKER_LOST. */
  async run(job: SnippetJob, { clock, wallMs, signal }: Deadline): Promise<SnippetExit> {
    // A signal that was aborted before anybody listened to it says nothing any more.
    if (signal?.aborted === true) return { end: { kind: 'cancelled' }, usage: nothingUsed }
    const startedAt = clock.now()
    const stopped = Promise.withResolvers<{ readonly type: 'timed-out' | 'cancelled' }>()
    const cancelTimer = clock.after(wallMs, () => stopped.resolve({ type: 'timed-out' }))
    const cancel = () => stopped.resolve({ type: 'cancelled' })
    signal?.addEventListener('abort', cancel, { once: true })
    this.#send({ type: 'job', job })
    try {
      const first = await Promise.race([this.#next(), stopped.promise])
      // It may have ended in time while the host was busy with something else, or too late before the host saw it.
      const message = first.type === 'timed-out' ? (this.#answerWithin(wallMs) ?? first) : first
      if (message.type === 'ended' && message.usage.wallMs > wallMs)
        return { end: { kind: 'timed-out' }, usage: message.usage }
      if (message.type === 'ended') return message
      if (message.type === 'output-full') return { end: { kind: 'output-full' }, usage: message.usage }
      if (message.type === 'ready') throw lost(message)
      return { end: { kind: message.type }, usage: { wallMs: clock.now() - startedAt, memoryPeakBytes: 0 } }
    } catch (thrown) {
      if (!isHeapFull(thrown)) throw thrown
      return {
        end: { kind: 'out-of-memory' },
        usage: { wallMs: clock.now() - startedAt, memoryPeakBytes: 0 },
      }
    } finally {
      cancelTimer()
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Ends the thread, whatever it does. Resolves when nothing of it is left. */
  async end(): Promise<void> {
    this.#port.close()
    // Somebody waits for this.
    this.#worker.ref()
    await this.#worker.terminate()
  }

  #answerWithin(wallMs: number): FromThread | undefined {
    const received = receiveMessageOnPort(this.#port)
    const message: FromThread | undefined = received?.message
    return message !== undefined && 'usage' in message && message.usage.wallMs <= wallMs ? message : undefined
  }

  async #next(): Promise<FromThread> {
    const message = this.#inbox.shift()
    if (message !== undefined) return message
    if (this.#failure !== undefined) throw this.#failure
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  #take(message: FromThread): void {
    if (this.#waiting === undefined) this.#inbox.push(message)
    else this.#waiting.resolve(message)
    // The next one may come before anybody has looked at this one.
    this.#waiting = undefined
  }

  #fail(cause: unknown): void {
    this.#failure ??= lost(cause)
    this.#waiting?.reject(this.#failure)
  }

  #send(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a port, not a window.
    this.#port.postMessage(message)
  }
}

function requireGuestFile(): void {
  if (existsSync(guestFile)) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The program of snippet threads is missing.',
    hint: unbundle,
  })
}

/** The kernel may have no thread left, and then refuses at once. */
function startWorker(
  workerData: { readonly port: MessagePort; readonly isForOne: boolean },
  own: MessagePort,
) {
  try {
    return new Worker(guestFile, {
      workerData,
      transferList: [workerData.port],
      env: {},
      argv: [],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits,
    })
  } catch (cause) {
    own.close()
    throw new LazaretError('WORKER_LOST', { detail: 'No thread could be started for snippets.', cause })
  }
}

/** Whether the thread serves another program after one that ended like this. */
export function canServe({ end }: SnippetExit): boolean {
  return end.kind === 'completed' || end.kind === 'failed'
}

export const nothingUsed: ThreadUsage = { wallMs: 0, memoryPeakBytes: 0 }

const isHeapFull = (thrown: unknown): boolean =>
  thrown instanceof LazaretError &&
  thrown.cause instanceof Error &&
  (thrown.cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'

const lost = (cause: unknown): LazaretError =>
  new LazaretError('WORKER_LOST', { detail: 'A snippet thread ended unexpectedly.', cause })
