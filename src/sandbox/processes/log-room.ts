/**
 * The memory for the logs of one sandbox. They count against what its client may make the host hold, and make room for
 * everything else that the client needs. The oldest output of the processes that ended first goes first.
 */
import type { HostAccount, Reservation } from '../../core/host-account.ts'

/** The logs of all ended processes of one sandbox together. */
export const endedBytesMax = 16 * 1024 * 1024

interface HeldLog {
  /** The memory that it takes. */
  readonly bytes: number
  /** Returns how much memory that frees. */
  dropOldest(): number
}

export class LogRoom implements Disposable {
  readonly #reservation: Reservation
  readonly #running = new Set<HeldLog>()
  /** The one that ended first is the first. */
  readonly #ended = new Set<HeldLog>()

  constructor(account: HostAccount, client: string | undefined) {
    this.#reservation = account.reserve({ client, kind: 'logs' }, 0, (bytes) => this.#shrink(bytes))
  }

  add(log: HeldLog): void {
    this.#running.add(log)
  }

  end(log: HeldLog): void {
    this.#running.delete(log)
    this.#ended.add(log)
    let bytes = [...this.#ended].reduce((sum, ended) => sum + ended.bytes, 0)
    while (bytes > endedBytesMax) bytes -= this.#dropOldest(this.#ended)
  }

  /** Nobody can ask for it any more. */
  remove(log: HeldLog): void {
    this.#running.delete(log)
    this.#ended.delete(log)
    this.giveBack(log.bytes)
  }

  /** Makes room for more output of a running process. Returns false if there is none. */
  reserve(bytes: number, log: HeldLog): boolean {
    while (!this.#reservation.tryResize(this.#reservation.bytes + bytes))
      if (this.#dropOldest(this.#ended) === 0 && log.dropOldest() === 0) return false
    return true
  }

  giveBack(bytes: number): void {
    this.#reservation.tryResize(Math.max(0, this.#reservation.bytes - bytes))
  }

  /** The sandbox has ended. Who still has its processes can read what they have printed. */
  [Symbol.dispose](): void {
    this.#reservation[Symbol.dispose]()
  }

  #shrink(bytes: number): void {
    for (let left = bytes; left > 0;) {
      const freed = this.#dropOldest(this.#ended) || this.#dropOldest(this.#running)
      if (freed === 0) return
      left -= freed
    }
  }

  #dropOldest(logs: ReadonlySet<HeldLog>): number {
    for (const log of logs) {
      const freed = log.dropOldest()
      if (freed > 0) return freed
    }
    return 0
  }
}
