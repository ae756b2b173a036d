/**
 * Bounds the memory that the long messages of one run take. Their length does not: `[]` takes forty times as much
 * memory as a value as it does as text. All messages of a run share the room, because each leaves garbage that the
 * engine collects at some later time. A call that the guest is entitled to returns its share.
 */
import type { MessageCost } from './message-cost.ts'

/** Smaller results may still be lists of small things. */
const resultBytesMin = 1024 * 1024
/** The memory of a list, an object or a key, in the message and again in its value: some 100 and 500 bytes. */
const [bytesPerContainer, bytesPerKey] = [16, 64]
/** A list is moved as a whole when it grows. */
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

  /** A text about what a message may not contain. */
  get tooMuch(): string {
    return `${this.#containersMax} lists and objects, ${this.#keysMax} different keys or ${this.itemsMax} members of a list, or are nested too deeply`
  }

  /** Returns whether there was room. */
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
