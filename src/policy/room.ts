/**
 * How much may run at one time, and which request is next. A slot includes the memory that was promised with it. Free
 * slots go to the client with the fewest, and no client takes more than it leaves for others: a client alone gets just
 * over half, so that the next client finds room at once, whatever the first one's programs do.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import type { ErrorCode } from '../core/errors/errors.ts'
import { noRoom } from '../core/errors/no-room.ts'
import { onAbort } from '../core/abort.ts'
import { FairQueue } from '../pool/fair-queue.ts'
import type { RoomSize } from './room-size.ts'

export interface RoomParts extends RoomSize {
  readonly clock: Clock
  /** The text of every refusal, instead of the default. */
  readonly refusalText?: string
  /** Whether one client may take all slots. Default false. */
  readonly isShared?: boolean
}

export interface Wish {
  readonly client: string
  readonly memoryBytes: number
  /** Whether it lasts until its owner ends it, and takes memory but no slot: a sandbox. Default false. */
  readonly isStanding?: boolean
  readonly signal: AbortSignal
}

/** A slot, until it is released. */
export interface Place {
  readonly queuedMs: number
  /** Only the first call counts. */
  readonly leave: () => void
}

interface Waiter extends Wish {
  readonly since: number
  readonly serve: (place: Place) => void
  readonly refuse: (error: LazaretError) => void
}

interface Held {
  places: number
  bytes: number
}

/** How long requests that wait for memory let smaller ones pass. */
const patienceMs = 1000
const retryAfter = { leastMs: 100, mostMs: 60_000 }
/** The weight of the newest sample in the mean time for which a slot is held. */
const newestWeight = 0.1

export class Room {
  readonly #parts: RoomParts
  readonly #waiting = new FairQueue<Waiter>()
  readonly #clients = new Map<string, Held>()
  #places = 0
  #bytes = 0
  #standingBytes = 0
  #meanMs = 1000
  #isLettingIn = false
  /**
   * The smallest memory that a run has asked for since the queue was last empty. With less memory than this, no queued
   * run needs to be checked.
   */
  #smallestBytes = Number.POSITIVE_INFINITY

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get running(): number {
    return this.#places
  }

  /** The memory that is promised at present. */
  get promisedBytes(): number {
    return this.#bytes
  }

  /** Throws QUEUE_FULL and CLIENT_QUEUE_FULL, or the signal's reason if it came first. */
  enter(wish: Wish): Promise<Place> | Place {
    const { memoryTotalBytes } = this.#parts
    wish.signal.throwIfAborted()
    // Requests wait only for runs, which end. A sandbox may last for ever, and its owner may be the waiting caller.
    if (this.#standingBytes + wish.memoryBytes > memoryTotalBytes) throw heldBySandboxes(wish)
    if (this.#waiting.isEmpty && this.#fits(wish)) return this.#take(wish, 0)
    this.#makeRoomToWait(wish.client)
    return this.#wait(wish)
  }

  async #wait(wish: Wish): Promise<Place> {
    const { clock, waitMs } = this.#parts
    const { client, signal } = wish
    const turn = Promise.withResolvers<Place>()
    const waiter = { ...wish, since: clock.now(), serve: turn.resolve, refuse: turn.reject }
    const giveUp = (reason: unknown) => {
      if (!this.#waiting.remove(client, waiter)) return
      turn.reject(reason)
      this.#letInSoon()
    }
    const stopWaiting = clock.after(waitMs, () =>
      giveUp(this.#refusal('QUEUE_FULL', `It has waited for ${waitMs} ms.`)),
    )
    const stopListening = onAbort(signal, () => giveUp(signal.reason))
    if (this.#waiting.isEmpty) this.#smallestBytes = waiter.memoryBytes
    this.#smallestBytes = Math.min(this.#smallestBytes, waiter.memoryBytes)
    this.#waiting.add(client, waiter)
    // Requests before it may ask for more than it does.
    if (this.#fits(waiter)) this.#letIn()
    try {
      return await turn.promise
    } finally {
      stopWaiting()
      stopListening()
    }
  }

  /**
   * If the queue is full, the newest request of the client with the longest queue makes room for a client with less
   * than its share.
   */
  #makeRoomToWait(client: string): void {
    const { waitingMax } = this.#parts
    if (this.#waiting.length < waitingMax) return
    const own = this.#waiting.lengthOf(client)
    const clients = this.#waiting.clients + (own === 0 ? 1 : 0)
    // The second case is one request of each client.
    if (clients <= 1 || (own === 0 && clients > waitingMax))
      throw this.#refusal('QUEUE_FULL', `${waitingMax} requests are waiting.`)
    const overflow = () =>
      this.#refusal(
        'CLIENT_QUEUE_FULL',
        `${waitingMax} requests are waiting, and this client has its share of them.`,
      )
    if (own + 1 > waitingMax / clients) throw overflow()
    const longest = this.#waiting.longest()
    if (longest === undefined) throw this.#refusal('QUEUE_FULL', `${waitingMax} requests are waiting.`)
    this.#waiting.takeNewest(longest)?.refuse(overflow())
  }

  /**
   * Called once for all requests that give up in the same turn, because searching the queue for each of them takes
   * seconds.
   */
  #letInSoon(): void {
    if (this.#isLettingIn) return
    this.#isLettingIn = true
    queueMicrotask(() => {
      this.#isLettingIn = false
      this.#letIn()
    })
  }

  #letIn(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.takeFirst(next.client)
      next.serve(this.#take(next, this.#parts.clock.now() - next.since))
    }
  }

  /** Among the clients that could get a slot, the one with the fewest; in turn if several have equally few. */
  #next(): Waiter | undefined {
    const { runningMax, memoryTotalBytes } = this.#parts
    if (this.#places >= runningMax || this.#bytes + this.#smallestBytes > memoryTotalBytes) return undefined
    const now = this.#parts.clock.now()
    let best: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const waiter of this.#waiting.firsts()) {
      if (this.#fits(waiter)) {
        const { places } = this.#held(waiter.client)
        if (places < fewest) [best, fewest] = [waiter, places]
        // No client can have fewer, and with many clients the search would take longer than a run.
        if (fewest === 0) break
        // Otherwise small requests that come and go would keep out a large one for ever: after a while its turn comes
        // first.
      } else if (now - waiter.since > patienceMs && this.#lacksOnlyMemory(waiter)) return undefined
    }
    return best
  }

  #fits(wish: Wish): boolean {
    return this.#hasMemory(wish) && this.#isDue(wish)
  }

  #hasMemory({ memoryBytes }: Wish): boolean {
    return this.#bytes + memoryBytes <= this.#parts.memoryTotalBytes
  }

  #lacksOnlyMemory(wish: Wish): boolean {
    return !this.#hasMemory(wish) && this.#isDue(wish)
  }

  /** Whether there is a free slot, and the client has no more than it leaves for others. */
  #isDue({ client, isStanding = false }: Wish): boolean {
    const { runningMax, memoryTotalBytes, isShared = false } = this.#parts
    if (isStanding) return true
    const free = runningMax - this.#places
    if (free <= 0 || isShared) return free > 0
    const held = this.#held(client)
    return held.places <= free && held.bytes <= memoryTotalBytes - this.#bytes
  }

  #held(client: string): Held {
    return this.#clients.get(client) ?? { places: 0, bytes: 0 }
  }

  #take(wish: Wish, queuedMs: number): Place {
    const { clock } = this.#parts
    const since = clock.now()
    this.#count(wish, 1)
    let isLeft = false
    const leave = () => {
      if (isLeft) return
      isLeft = true
      this.#count(wish, -1)
      if (wish.isStanding !== true) this.#meanMs += newestWeight * (clock.now() - since - this.#meanMs)
      if (!this.#waiting.isEmpty) this.#letIn()
    }
    return { queuedMs, leave }
  }

  #count({ client, memoryBytes, isStanding = false }: Wish, by: 1 | -1): void {
    this.#bytes += by * memoryBytes
    if (isStanding) {
      this.#standingBytes += by * memoryBytes
      return
    }
    this.#places += by
    const { places, bytes } = this.#held(client)
    const held = { places: places + by, bytes: bytes + by * memoryBytes }
    if (held.places === 0) this.#clients.delete(client)
    else this.#clients.set(client, held)
  }

  #refusal(code: ErrorCode, detail: string): LazaretError {
    const { runningMax, refusalText } = this.#parts
    const guess = (this.#meanMs * (this.#waiting.length + 1)) / runningMax
    const retryAfterMs = Math.ceil(Math.min(Math.max(guess, retryAfter.leastMs), retryAfter.mostMs))
    if (refusalText !== undefined) return new LazaretError(code, { message: refusalText, retryAfterMs })
    return new LazaretError(code, { detail, retryAfterMs })
  }
}

/** Does not say how much they hold, because they may belong to other clients. */
function heldBySandboxes({ memoryBytes }: Wish): LazaretError {
  return noRoom(
    `Sandboxes hold the memory that this needs: ${Math.ceil(memoryBytes / 1024 ** 2)} MiB.`,
    'Destroy a sandbox or a code context that is no longer needed, or lower `limits.memoryBytes`. The operator can raise `queue.memoryTotalBytes`.',
  )
}
