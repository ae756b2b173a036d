/** The host's side of a thread. The thread serves one program at a time. If a program must be ended, the thread is ended. */
import { existsSync } from 'node:fs'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { unbundle } from '../../core/errors/unbundle.ts'
import type { EngineModule } from './engine-module.ts'
import type { FromThread, ProgramEnd, SnippetJob, ThreadUsage, ToThread } from './thread-protocol.ts'

/** How a program ended: by itself, or because the host ended it. */
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
 * Memory for the strings that cross between the engine and the thread; the engine's linear memory does not count. The stack
 * must be large enough for the engine's own stack limit to be reached first, because V8's limit depends on the machine.
 */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 }

export interface ThreadOptions {
  /** Whether the thread will serve only one program. */
  readonly isForOne?: boolean
}

const guestFile = new URL(import.meta.url.endsWith('.ts') ? './guest.ts' : './guest.js', import.meta.url)

export class SnippetThread {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #inbox: FromThread[] = []
  #waiting: PromiseWithResolvers<FromThread> | undefined
  #failure: LazaretError | undefined

  /** Calls `compile` while the thread starts, because both take time. Throws WORKER_LOST, RUNTIME_UNAVAILABLE. */
  constructor(compile: () => Promise<EngineModule>, { isForOne = false }: ThreadOptions = {}) {
    requireSurroundings()
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = startWorker({ port: port2, isForOne }, port1)
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', () => this.#fail(undefined))
    this.#port.on('message', (message: FromThread) => this.#take(message))
    // The timers of waiting callers keep the process alive.
    this.#worker.unref()
    this.#port.unref()
    compile().then(
      (compiled) => this.#send({ type: 'module', module: compiled }),
      (cause: unknown) => this.#fail(cause),
    )
  }

  /** Resolves when a fresh VM is ready. Throws WORKER_LOST. */
  async ready(): Promise<void> {
    const message = await this.#next()
    if (message.type !== 'ready') throw lost(message)
  }

  /** Runs a program. The thread must be ready. `canServe` tells whether it can serve another one. Throws WORKER_LOST. */
  async run(job: SnippetJob, { clock, wallMs, signal }: Deadline): Promise<SnippetExit> {
    // A signal that is already aborted sends no event.
    if (signal?.aborted === true) return { end: { kind: 'cancelled' }, usage: nothingUsed }
    const startedAt = clock.now()
    const stopped = Promise.withResolvers<{ readonly type: 'timed-out' | 'cancelled' }>()
    const cancelTimer = clock.after(wallMs, () => stopped.resolve({ type: 'timed-out' }))
    const cancel = () => stopped.resolve({ type: 'cancelled' })
    signal?.addEventListener('abort', cancel, { once: true })
    this.#send({ type: 'job', job })
    try {
      const first = await Promise.race([this.#next(), stopped.promise])
      // While the host was busy, the program may have ended in time, or too late. The thread's measurement decides.
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

  /** Ends the thread, whatever it does. Resolves when it has ended. */
  async end(): Promise<void> {
    this.#port.close()
    // The caller awaits this, so the process must not exit before.
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
    // Another message may arrive before the waiting caller continues.
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

function requireSurroundings(): void {
  if (!('WebAssembly' in globalThis))
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: 'Snippets need WebAssembly, which is switched off in this process.',
      hint: 'Start Node without `--jitless`.',
    })
  if (existsSync(guestFile)) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The program of snippet threads is missing.',
    hint: unbundle,
  })
}

/** Throws WORKER_LOST if the kernel refuses to create a thread. */
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

/** Whether the thread can serve another program after this end. */
export function canServe({ end }: SnippetExit): boolean {
  return end.kind === 'completed' || end.kind === 'failed'
}

export const nothingUsed: ThreadUsage = { wallMs: 0, memoryPeakBytes: 0 }

const isHeapFull = (thrown: unknown): boolean =>
  thrown instanceof LazaretError &&
  thrown.cause instanceof Error &&
  (thrown.cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'

const lost = (cause: unknown): LazaretError =>
  new LazaretError('WORKER_LOST', { detail: `A snippet thread ended unexpectedly${reasonOf(cause)}.`, cause })

/** Only Node's own errors: for example, no thread starts in a working folder that has been removed. */
function reasonOf(cause: unknown): string {
  return cause instanceof Error && 'syscall' in cause ? `: ${cause.message}` : ''
}
