/**
 * The slots of a pool of lasting workers. Each has a number, a state whose changes it reports, and a record of crashes.
 */
import type { Clock } from '../core/clock.ts'

/** `empty` until it is needed, and again when its worker was given up; `crashed` until it is needed; `disabled` for good. */
export type SlotState = 'empty' | 'restarting' | 'idle' | 'busy' | 'crashed' | 'disabled'

export interface SlotEvent {
  /** From 1 on. */
  readonly slot: number
  readonly from: SlotState
  readonly to: SlotState
  readonly reason: string
}

export interface CrashLimit {
  /** This number of crashes within the window disables a slot. */
  readonly most: number
  readonly windowMs: number
}

export class Slot<Worker> {
  readonly number: number
  worker: Worker | null = null
  /** The client that its worker serves, or has served last. */
  client = ''
  /** The serial number of its worker among all workers that the pool has started. */
  startNumber = 0
  #state: SlotState = 'empty'
  #crashes: number[] = []
  readonly #tell: (event: SlotEvent) => void

  constructor(number: number, tell: (event: SlotEvent) => void) {
    this.number = number
    this.#tell = tell
  }

  get state(): SlotState {
    return this.#state
  }

  /** Whether a worker can be started in this slot. */
  get isFree(): boolean {
    return this.#state === 'empty' || this.#state === 'crashed'
  }

  turn(to: SlotState, reason: string): void {
    const from = this.#state
    if (from === to || from === 'disabled') return
    this.#state = to
    this.#tell({ slot: this.number, from, to, reason })
  }

  /** Records that its worker has crashed. Crashes of earlier workers in this slot count as well. */
  crash(clock: Pick<Clock, 'now'>, limit: CrashLimit, reason: string): void {
    const now = clock.now()
    this.#crashes = [...this.#crashes.filter((at) => now - at < limit.windowMs), now]
    this.worker = null
    this.turn('crashed', reason)
    if (this.#crashes.length >= limit.most)
      this.turn('disabled', `${this.#crashes.length} crashes within ${limit.windowMs} ms`)
  }
}
