/**
 * The gate before every start of a cell: only a few at one time, however many are requested, so fifty requests at once
 * do not become fifty half-built cells. Waiting runs are admitted in fair turns, or served by a worker that becomes
 * free.
 */
import { LazaretError } from '../core/errors/errors.ts'
import { onAbort } from '../core/abort.ts'
import { FairQueue } from './fair-queue.ts'

/** A run behind this many others would wait for minutes. */
const waitingMax = 10_000

/** Permission to start one cell. Calling it gives the permission back. */
export type Leave = () => void

interface Waiter<W> {
  /** Which workers the request can use. */
  readonly key: string
  readonly serve: (turn: Turn<W>) => void
}

/** Either a worker or permission to start one; neither if the request was cancelled. */
export type Turn<W> = { readonly worker: W } | { readonly leave: Leave } | null

export interface Asking {
  readonly client: string
  readonly key: string
  readonly signal: AbortSignal
}

export class StartGate<W> {
  /** Called whenever no start is queued and there is room. */
  onIdle: () => void = () => undefined
  readonly #most: number
  readonly #queue = new FairQueue<Waiter<W>>()
  #starting = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Whether no start is queued and one more is possible. */
  get isIdle(): boolean {
    return this.#queue.isEmpty && this.#starting < this.#most
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Resolves with null if `signal` is aborted first. Throws QUEUE_FULL. */
  enter({ client, key, signal }: Asking): Promise<Turn<W>> {
    if (signal.aborted) return Promise.resolve(null)
    if (this.isIdle) return Promise.resolve({ leave: this.start() })
    if (this.#queue.length >= waitingMax)
      throw new LazaretError('QUEUE_FULL', { detail: `${waitingMax} runs are waiting.` })
    return new Promise((resolve) => {
      const waiter: Waiter<W> = {
        key,
        serve: (turn) => {
          stopListening()
          resolve(turn)
        },
      }
      const giveUp = () => {
        if (this.#queue.remove(client, waiter)) resolve(null)
      }
      const stopListening = onAbort(signal, giveUp)
      this.#queue.add(client, waiter)
    })
  }

  /** Gives a worker to a queued request that can use it. False if there is none. */
  offer(key: string, worker: W): boolean {
    const waiter = this.#queue.take((one) => one.key === key)
    waiter?.serve({ worker })
    return waiter !== undefined
  }

  /** Permission for a start that no run waits for; taken whether or not there is room. */
  start(): Leave {
    this.#starting++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#starting--
      this.#letIn()
    }
  }

  #letIn(): void {
    while (this.#starting < this.#most) {
      const waiter = this.#queue.take()
      if (waiter === undefined) break
      waiter.serve({ leave: this.start() })
    }
    if (this.isIdle) this.onIdle()
  }
}
