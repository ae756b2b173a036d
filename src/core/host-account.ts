/**
 * The bytes that clients make this process hold: bodies that arrive, answers that are not taken yet, logs, output. Whoever
 * holds bytes for a client reserves them first. A client holds no more than it leaves for others: one alone gets half of
 * all bytes, so the next one finds room at once, whatever the first one does.
 */
import { LazaretError } from './errors/errors.ts'

export const heldKinds = ['bodies', 'answers', 'logs', 'output'] as const
export type HeldKind = (typeof heldKinds)[number]

export interface HeldStats {
  /** All kinds together. */
  readonly bytes: number
  readonly bytesMax: number
  readonly kinds: Readonly<Record<HeldKind, number>>
}

/** Who makes the process hold what. */
export interface Holding {
  /** The name of a token, an MCP client, or the `client` of a request; those without a name are one client. */
  readonly client: string | undefined
  readonly kind: HeldKind
}

/** What is held now may be taken or dropped within this time. */
const retryAfterMs = 1000

/** What all accounts of a process hold together: they share one heap. */
export class HeldTotal {
  bytes = 0
  readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }
}

type Shrink = (bytes: number) => void

export class HostAccount {
  readonly #bytesMax: number
  readonly #total: HeldTotal
  readonly #clients = new Map<string, number>()
  readonly #shrinking = new Map<string, Set<Shrink>>()
  readonly #kinds: Record<HeldKind, number> = { bodies: 0, answers: 0, logs: 0, output: 0 }
  #bytes = 0

  /** Only an account with a larger bound than the total may exceed it. Default: the account is alone. */
  constructor(bytesMax: number, total = new HeldTotal(bytesMax)) {
    this.#bytesMax = bytesMax
    this.#total = total
  }

  /**
   * Counts the bytes until the reservation is disposed. Throws CLIENT_QUEUE_FULL for a client that has its share, and
   * QUEUE_FULL if others leave too little for one that has nothing. `shrink` gives back what can be dropped, when the
   * client needs that many bytes for something else.
   */
  reserve({ client = '', kind }: Holding, bytes = 0, shrink?: Shrink): Reservation {
    const reservation = new Reservation({
      add: (more) => this.#add(client, kind, more),
      refusal: (wanted) => this.#refusal(client, wanted),
      end: shrink === undefined ? () => undefined : this.#register(client, shrink),
    })
    reservation.resize(bytes)
    return reservation
  }

  get stats(): HeldStats {
    return { bytes: this.#bytes, bytesMax: this.#bytesMax, kinds: { ...this.#kinds } }
  }

  /** Returns whether there is room. Giving back always succeeds. */
  #add(client: string, kind: HeldKind, more: number): boolean {
    // What can be dropped makes room for everything but more of its kind.
    if (more > 0 && more > this.#roomFor(client) && kind !== 'logs') this.#shrink(client, more)
    if (more > 0 && more > this.#roomFor(client)) return false
    const held = (this.#clients.get(client) ?? 0) + more
    this.#bytes += more
    this.#total.bytes += more
    this.#kinds[kind] += more
    if (held === 0) this.#clients.delete(client)
    else this.#clients.set(client, held)
    return true
  }

  /** How much more the client may hold, which leaves as much for others as it then has. */
  #roomFor(client: string): number {
    const own = this.#bytesMax - this.#bytes
    const ofAll = Math.max(this.#total.bytesMax, this.#bytesMax) - this.#total.bytes
    return (Math.min(own, ofAll) - (this.#clients.get(client) ?? 0)) / 2
  }

  /** Until the returned function is called. */
  #register(client: string, shrink: Shrink): () => void {
    const all = this.#shrinking.get(client) ?? new Set()
    this.#shrinking.set(client, all.add(shrink))
    return () => {
      all.delete(shrink)
      if (all.size === 0) this.#shrinking.delete(client)
    }
  }

  #shrink(client: string, more: number): void {
    for (const shrink of this.#shrinking.get(client) ?? []) {
      const missing = more - this.#roomFor(client)
      if (missing <= 0) return
      shrink(missing)
    }
  }

  #refusal(client: string, wanted: number): LazaretError {
    const code = this.#clients.has(client) ? 'CLIENT_QUEUE_FULL' : 'QUEUE_FULL'
    return new LazaretError(code, {
      message: 'The server holds as many bytes for clients as it may.',
      hint: 'Send fewer or smaller requests at a time, and read the answers. The operator can raise `queue.heldBytesMax`.',
      // More than a client alone may have never fits.
      ...(wanted > this.#bytesMax / 2 ? { retryable: false } : { retryAfterMs }),
    })
  }
}

interface Counting {
  readonly add: (more: number) => boolean
  readonly refusal: (wanted: number) => LazaretError
  readonly end: () => void
}

/** Bytes that are held for a client, until it is disposed. It grows before more is held, and shrinks afterwards. */
export class Reservation implements Disposable {
  readonly #counting: Counting
  #bytes = 0
  #isOver = false

  constructor(counting: Counting) {
    this.#counting = counting
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws CLIENT_QUEUE_FULL and QUEUE_FULL. */
  resize(bytes: number): void {
    if (!this.tryResize(bytes)) throw this.#counting.refusal(bytes)
  }

  /** Returns whether there is room; if not, it stays as it is. One that was disposed has room for nothing. */
  tryResize(bytes: number): boolean {
    if (this.#isOver) return bytes <= 0
    if (!this.#counting.add(bytes - this.#bytes)) return false
    this.#bytes = bytes
    return true
  }

  /** Returns whether there is room for so many bytes more. A negative number gives some back. */
  tryGrow(bytes: number): boolean {
    return this.tryResize(Math.max(0, this.#bytes + bytes))
  }

  [Symbol.dispose](): void {
    if (this.#isOver) return
    this.tryResize(0)
    this.#isOver = true
    this.#counting.end()
  }
}
