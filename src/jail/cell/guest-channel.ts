/**
 * The host's end of one process's own channel. The cell's pid 1 holds a socket to the guest and relays it: what the
 * guest writes arrives like one more output stream, and what the host writes is sent like standard input. A side that
 * does not read blocks only the other side.
 */
import { Duplex } from 'node:stream'

import type { Inlet } from './inlet.ts'

/** How many bytes may wait here; beyond that the guest is held. Bytes in flight still arrive. */
const waitingBytesMax = 64 * 1024

export interface ChannelDoor {
  readonly inlet: Inlet
  /** Stops reading what the guest writes, or resumes. */
  readonly hold: (isHeld: boolean) => void
  /** Nobody reads any more. */
  readonly close: () => void
}

export class GuestChannel extends Duplex {
  readonly #door: ChannelDoor
  #isHeld = false
  #hasEnded = false
  #isProcessOver = false

  constructor(door: ChannelDoor) {
    super({ readableHighWaterMark: waitingBytesMax, writableHighWaterMark: waitingBytesMax })
    this.#door = door
    // As with any socket, nobody has to listen for errors.
    this.on('error', () => undefined)
  }

  /** What the guest wrote; nothing when it has closed its end. */
  hear(bytes: Buffer): void {
    if (this.destroyed || this.#hasEnded) return
    if (bytes.length === 0) this.#endReading()
    else if (!this.push(Buffer.from(bytes)) && !this.#isHeld) this.#hold(true)
  }

  /** The process has ended, and all that it wrote has arrived. */
  finish(): void {
    this.#isProcessOver = true
    this.#door.inlet.abandon()
    if (this.destroyed) return
    this.#endReading()
    if (this.readableEnded) this.destroy()
    else this.once('end', () => this.destroy())
  }

  override _read(): void {
    if (this.#isHeld) this.#hold(false)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, onTaken: (error?: Error) => void): void {
    void this.#door.inlet.write(chunk).then(() => onTaken())
  }

  override _final(onEnded: (error?: Error) => void): void {
    this.#door.inlet.end()
    onEnded()
  }

  override _destroy(error: Error | null, onClosed: (error?: Error | null) => void): void {
    if (!this.#isProcessOver) {
      this.#door.inlet.abandon()
      this.#door.close()
    }
    onClosed(error)
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!this.#isProcessOver) this.#door.hold(isHeld)
  }

  #endReading(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
  }
}
