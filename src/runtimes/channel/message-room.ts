/**
 * Bounds the memory that the long messages of one run take. Their length does not bound it: the value `[]` takes twenty
 * times as much memory as its text. All messages of a run share these limits, because each leaves garbage that the
 * engine collects some time later. An accepted call returns its share.
 */
import type { MessageCost } from './message-cost.ts'

/** Runs with a smaller result limit get the room of this one, because even small results may be lists of small values. */
const resultBytesMin = 1024 * 1024
/** Result bytes for each allowed container and key. A container takes about 100 bytes of memory, and a key about 500. */
const [bytesPerContainer, bytesPerKey] = [16, 64]
/** Result bytes for each allowed item of one list, which the engine copies as a whole when it grows. */
const bytesPerItem = 4

export class MessageRoom {
  /** The most items of one list. */
  readonly itemsMax: number
  readonly #containersMax: number
  readonly #keysMax: number
  #containersLeft: number
  #keysLeft: number

  constructor(resultBytes: number) {
    const bytes = Math.max(resultBytes, resultBytesMin)
    this.itemsMax = Math.floor(bytes / bytesPerItem)
    this.#containersMax = this.#containersLeft = Math.floor(bytes / bytesPerContainer)
    this.#keysMax = this.#keysLeft = Math.floor(bytes / bytesPerKey)
  }

  /** The limits, as text for an error message. */
  get tooMuch(): string {
    return `${this.#containersMax} lists and objects, ${this.#keysMax} different keys or ${this.itemsMax} members of a list, or are nested too deeply`
  }

  /** Reserves room. Returns false if there is not enough. */
  take({ containers, keys }: Omit<MessageCost, 'members'>): boolean {
    if (containers > this.#containersLeft || keys > this.#keysLeft) return false
    this.#containersLeft -= containers
    this.#keysLeft -= keys
    return true
  }

  giveBack({ containers, keys }: Omit<MessageCost, 'members'>): void {
    this.#containersLeft += containers
    this.#keysLeft += keys
  }
}
