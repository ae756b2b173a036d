/** Bytes on their way to a guest, by its standard input or its channel; the receiving half is native/cell/inlets.c. */
import { inletCreditBytes } from './frames.ts'

export interface InletDoor {
  readonly send: (bytes: Uint8Array) => void
  /** Nothing follows what was sent. */
  readonly end: () => void
}

export class Inlet {
  readonly #door: InletDoor
  #waiting: Buffer = Buffer.alloc(0)
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
    const copy = Buffer.from(bytes)
    this.#waiting = this.#waiting.length === 0 ? copy : Buffer.concat([this.#waiting, copy])
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
    this.#waiting = Buffer.alloc(0)
    this.#settle()
  }

  #feed(): void {
    const piece = this.#waiting.subarray(0, this.#credit)
    this.#waiting = this.#waiting.subarray(piece.length)
    this.#credit -= piece.length
    if (piece.length > 0) this.#door.send(piece)
    if (this.#waiting.length > 0) return
    this.#settle()
    if (this.#isOver && !this.#isTold) this.#door.end()
    this.#isTold = this.#isOver
  }

  #settle(): void {
    this.#taken?.resolve()
    this.#taken = undefined
  }
}
