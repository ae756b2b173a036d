/** Writes to a guest that may be ending. */
import { writeSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../core/clock.ts'

/** How soon a write is tried again when the guest's socket is full. Doubled after each try without progress. */
const retryMs = { least: 1, most: 16 }

const writers = new WeakMap<Duplex, GuestWriter>()

/**
 * If a write by Node fails because the guest has closed its end, Node destroys the socket, with everything that the guest
 * sent and that has not been read. So the bytes go straight to the descriptor, which does not block. What has no room there
 * waits here, also when the code that it is for has ended: a part of a message would spoil the next one.
 */
export class GuestWriter {
  /** Called when everything that waited has been written, or can no longer be. */
  onDrain: () => void = () => undefined
  readonly #stream: Duplex
  readonly #clock: Clock
  #waiting: Buffer[] = []

  private constructor(stream: Duplex, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    // Only streams without a descriptor are ever written to by Node.
    stream.on('drain', () => this.onDrain())
  }

  /** The only writer of this stream. */
  static of(stream: Duplex, clock: Clock): GuestWriter {
    const writer = writers.get(stream) ?? new GuestWriter(stream, clock)
    writers.set(stream, writer)
    return writer
  }

  get isFull(): boolean {
    return this.#waiting.length > 0 || this.#stream.writableNeedDrain
  }

  get isOpen(): boolean {
    return this.#stream.writable
  }

  write(bytes: Buffer): void {
    const descriptor = descriptorOf(this.#stream)
    if (descriptor === undefined) this.#stream.write(bytes)
    else if (this.#waiting.push(bytes) === 1) this.#flush(descriptor, retryMs.least)
  }

  #flush(descriptor: number, nextMs: number): void {
    let hasTaken = false
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const taken = writeDirectly(descriptor, first)
      hasTaken ||= taken > 0
      if (taken < first.length) {
        this.#waiting[0] = first.subarray(taken)
        this.#tryLater(hasTaken ? retryMs.least : nextMs)
        return
      }
      this.#waiting.shift()
    }
  }

  #tryLater(ms: number): void {
    this.#clock.after(ms, () => {
      const descriptor = descriptorOf(this.#stream)
      if (descriptor === undefined) this.#waiting = []
      else this.#flush(descriptor, Math.min(2 * ms, retryMs.most))
      if (this.#waiting.length === 0) this.onDrain()
    })
  }
}

/** How many bytes need no further write. */
function writeDirectly(descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : bytes.length
  }
}

/** Undefined for a stream that is not a socket, or is closed. Node has no documented name for the descriptor. */
function descriptorOf(stream: Duplex): number | undefined {
  const { _handle: handle } = stream as { readonly _handle?: { readonly fd?: number } | null }
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined
}
