/** Bytes on their way to a guest, by its standard input or its channel; the receiving half is native/cell/inlets.c. */
import { inletCreditBytes } from './frames.ts'

export interface InletDoor {
  readonly send: (bytes: Uint8Array) => void
  /** Nothing follows what was sent. */
  readonly end: () => void
}

export class Inlet {
  readonly #door: InletDoor
  #waiting: Uint8Array = new Uint8Array(0)
  /** How much of it the cell has room for. */
  #credit = inletCreditBytes
  #isOver = false
  #isTold = false
  /** Resolved when the cell has taken everything. */
  #taken: PromiseWithResolvers<void> | undefined

  constructor(door: InletDoor) {
    this.#door = door
  }

  /** Resolves when there is room for more, and when nobody will read it. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#isOver || bytes.length === 0) return
    if (this.#waiting.length > 0) this.#waiting = Buffer.concat([this.#waiting, bytes])
    else this.#waiting = Buffer.from(this.#sendPart(bytes)) // the caller may write over it
    this.#feed()
    if (this.#waiting.length === 0) return
    this.#taken ??= Promise.withResolvers()
    await this.#taken.promise
  }

  /** It ends behind what was written. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#feed()
  }

  /** The cell has room for so much more. */
  give(bytes: number): void {
    this.#credit += bytes
    this.#feed()
  }

  /** Nobody will read what waits. */
  abandon(): void {
    this.#isOver = true
    this.#isTold = true
    this.#waiting = new Uint8Array(0)
    this.#settle()
  }

  #feed(): void {
    this.#waiting = this.#sendPart(this.#waiting)
    if (this.#waiting.length > 0) return
    this.#settle()
    if (this.#isOver && !this.#isTold) this.#door.end()
    this.#isTold = this.#isOver
  }

  /** As much as there is room for. Answers the rest. */
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
