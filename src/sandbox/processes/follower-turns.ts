/**
 * Followers of logs take turns, all of this process together: a process that prints single bytes must not make the host
 * send each of them to each follower at once. Until its turn comes, more output is joined to what a follower gets.
 */
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { FairQueue } from '../../pool/fair-queue.ts'

/** About a quarter of the time of the event loop: to send one chunk takes tens of microseconds. */
const chunksPerTurn = 8
const turnMs = 2

interface Waiter {
  readonly chunks: number
  readonly go: () => void
}

export class FollowerTurns {
  readonly #clock: Clock
  readonly #waiting = new FairQueue<Waiter>()
  #left = chunksPerTurn
  #isRenewing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when a follower of this client may take more, after it got this many chunks. */
  async next(client: string, chunks: number): Promise<void> {
    if (this.#waiting.isEmpty && this.#left > 0) this.#spend(chunks)
    else await new Promise<void>((go) => this.#waiting.add(client, { chunks, go }))
  }

  #spend(chunks: number): void {
    this.#left -= chunks
    if (this.#isRenewing) return
    this.#isRenewing = true
    this.#clock.after(turnMs, () => this.#renew())
  }

  #renew(): void {
    this.#isRenewing = false
    // Many chunks at once take several turns.
    this.#left = Math.min(chunksPerTurn, this.#left + chunksPerTurn)
    if (this.#left <= 0) this.#spend(0)
    while (this.#left > 0) {
      const next = this.#waiting.take()
      if (next === undefined) return
      this.#spend(next.chunks)
      next.go()
    }
  }
}

/** A process has one event loop, so all followers share this instance. */
export const followerTurns = new FollowerTurns(systemClock)
