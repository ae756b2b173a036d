/** The message that is being received on a channel: its length, then its bytes, in chunks of any size. */
import { Blocks } from '../../result/blocks.ts'

/** The length that precedes each message. */
export const lengthBytes = 4

export interface IncomingListener {
  readonly onMessage: (message: Buffer) => void
  /** The length is zero or exceeds the limit. */
  readonly onMalformed: () => void
}

export class IncomingMessage {
  readonly #bytesMax: number
  readonly #listener: IncomingListener
  readonly #head = Buffer.alloc(lengthBytes)
  #headBytes = 0
  #body = new Blocks()
  #isBodyEmpty = true
  #bodyBytesLeft = 0

  constructor(bytesMax: number, listener: IncomingListener) {
    this.#bytesMax = bytesMax
    this.#listener = listener
  }

  /** Takes the bytes of this message and returns how many it took. The rest belongs to the next message. */
  take(bytes: Buffer): number {
    if (this.#headBytes < lengthBytes) {
      const taken = bytes.copy(this.#head, this.#headBytes)
      this.#headBytes += taken
      if (this.#headBytes === lengthBytes) this.#begin(this.#head.readUInt32LE(0))
      return taken
    }
    const part = bytes.subarray(0, this.#bodyBytesLeft)
    this.#bodyBytesLeft -= part.length
    // Most messages are small and arrive in one chunk, so they need no buffer.
    if (this.#bodyBytesLeft === 0 && this.#isBodyEmpty) this.#complete(part)
    else {
      this.#body.add(part)
      this.#isBodyEmpty = false
      if (this.#bodyBytesLeft === 0) this.#complete(this.#body.join())
    }
    return part.length
  }

  /** Releases the memory. */
  forget(): void {
    this.#body = new Blocks()
  }

  #begin(length: number): void {
    if (length === 0 || length > this.#bytesMax) this.#listener.onMalformed()
    this.#bodyBytesLeft = length
  }

  #complete(message: Buffer): void {
    this.#headBytes = 0
    if (!this.#isBodyEmpty) this.#body = new Blocks()
    this.#isBodyEmpty = true
    this.#listener.onMessage(message)
  }
}
