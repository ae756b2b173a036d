/**
 * Bytes on their way to a guest, by its standard input or its channel; the receiving half is
 * native/cell/serve/streams/inlets.c.
 */
import { inletCreditBytes } from '../launch/frames.ts'

export interface InletDoor {
  readonly send: (bytes: Uint8Array) => void
  /** Called when nothing more will be sent. */
  readonly end: () => void
}

export class Inlet {
  readonly #door: InletDoor
  #waiting: Uint8Array[] = []
  /** How many more bytes fit into the cell's buffer. */
  #credit = inletCreditBytes
  #isOver = false
  #isTold = false
  /** Resolved when the cell has taken everything. */
  #taken: PromiseWithResolvers<void> | undefined

  constructor(door: InletDoor) {
    this.#door = door
  }

  /** Resolves when there is room for more, or when it will never be read. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#isOver || bytes.length === 0) return
    const rest = this.#waiting.length > 0 ? bytes : this.#sendPart(bytes)
    if (rest.length > 0) this.#waiting.push(Buffer.from(rest)) // the caller may overwrite it
    this.#feed()
    if (this.#waiting.length === 0) return
    this.#taken ??= Promise.withResolvers()
    await this.#taken.promise
  }

  /** The input ends after the bytes that were written. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#feed()
  }

  /** The cell has room for this much more. */
  give(bytes: number): void {
    this.#credit += bytes
    this.#feed()
  }

  /** The waiting bytes will never be read. */
  abandon(): void {
    this.#isOver = true
    this.#isTold = true
    this.#waiting = []
    this.#settle()
  }

  #feed(): void {
    let taken = 0
    for (const piece of this.#waiting) {
      const rest = this.#sendPart(piece)
      if (rest.length > 0) {
        this.#waiting[taken] = rest
        break
      }
      taken++
    }
    this.#waiting.splice(0, taken)
    if (this.#waiting.length > 0) return
    this.#settle()
    if (this.#isOver && !this.#isTold) this.#door.end()
    this.#isTold = this.#isOver
  }

  /** Sends as much as there is room for. Returns the rest. */
  #sendPart(bytes: Uint8Array): Uint8Array {
    const piece = bytes.subarray(0, this.#credit)
    this.#credit -= piece.length
    if (piece.length > 0) this.#door.send(piece)
    return bytes.subarray(piece.length)
  }

  #settle(): void {
    this.#taken?.resolve()
    this.#taken = undefined
  }
}
