/** The message that is being received on a channel: its length, then its bytes, in chunks of any size. */
import { Blocks } from '../../result/blocks.ts'

/** The length that precedes each message. */
export const lengthBytes = 4
/** Of a message without room: enough to see what it was. */
const startBytes = 64

export interface IncomingListener {
  /** Called before a message of this length is stored. Returns whether there is room for it. */
  readonly hasRoom: (bytes: number) => boolean
  readonly onMessage: (message: Buffer) => void
  /** There was no room for a message; this is how it began. */
  readonly onSkipped: (start: Buffer) => void
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
  /** How a message that is not stored began. */
  #skipped: Buffer | undefined

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
    if (this.#skipped !== undefined) {
      this.#skip(this.#skipped, part)
      return part.length
    }
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
    else if (!this.#listener.hasRoom(length)) this.#skipped = Buffer.alloc(0)
    this.#bodyBytesLeft = length
  }

  #skip(start: Buffer, part: Buffer): void {
    this.#skipped = Buffer.concat([start, part.subarray(0, startBytes - start.length)])
    if (this.#bodyBytesLeft > 0) return
    const skipped = this.#skipped
    this.#skipped = undefined
    this.#headBytes = 0
    this.#listener.onSkipped(skipped)
  }

  #complete(message: Buffer): void {
    this.#headBytes = 0
    if (!this.#isBodyEmpty) this.#body = new Blocks()
    this.#isBodyEmpty = true
    this.#listener.onMessage(message)
  }
}
