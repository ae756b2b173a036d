/**
 * What a program emits, in memory that both threads see: whatever way the program ends, the host has all of it. The
 * cap counts the UTF-8 of everything together, and a character is never cut.
 */
const headerBytes = 8
/** The bytes of U+FFFD, which replaces half of a surrogate pair without its other half. */
const replacementBytes = 3

/** Most programs emit less. */
const firstBytes = 16 * 1024

/** Room for `capBytes` of output, which takes memory as there is some: the collector is in no hurry to free it. */
export function createOutputBuffer(capBytes: number): SharedArrayBuffer {
  const maxByteLength = headerBytes + capBytes
  return new SharedArrayBuffer(Math.min(headerBytes + firstBytes, maxByteLength), { maxByteLength })
}

/** The bytes written until now. */
export function readOutput(buffer: SharedArrayBuffer): string {
  return Buffer.from(buffer, headerBytes, Atomics.load(new Int32Array(buffer, 0, 1), 0)).toString()
}

export class OutputWriter {
  readonly #shared: SharedArrayBuffer
  readonly #length: Int32Array
  #bytes: Buffer
  #filled = 0
  /** The first half of a surrogate pair, if that was the end of the text before. */
  #half = ''

  constructor(buffer: SharedArrayBuffer) {
    this.#shared = buffer
    this.#length = new Int32Array(buffer, 0, 1)
    this.#bytes = Buffer.from(buffer, headerBytes)
  }

  get capBytes(): number {
    return this.#shared.maxByteLength - headerBytes
  }

  /** Whether it fitted. What did not is cut at a character, and nothing may be appended after that. */
  append(text: string): boolean {
    const joined = this.#half + text
    const last = joined.charCodeAt(joined.length - 1)
    const endsInHalf = last >= 0xd800 && last <= 0xdbff
    const whole = endsInHalf ? joined.slice(0, -1) : joined
    this.#half = endsInHalf ? joined.slice(-1) : ''
    return this.#write(whole) && (!endsInHalf || this.#filled + replacementBytes <= this.capBytes)
  }

  /** The program is over. */
  finish(): void {
    this.#write(this.#half)
    this.#half = ''
  }

  #write(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    this.#grow(this.#filled + bytes)
    // It writes whole characters only.
    const written = this.#bytes.write(text, this.#filled)
    this.#filled += written
    Atomics.store(this.#length, 0, this.#filled)
    return written === bytes
  }

  /** Grows by at least half, so that small emits rarely move the buffer, but never beyond the cap. */
  #grow(bytes: number): void {
    if (bytes <= this.#bytes.length || this.#bytes.length === this.capBytes) return
    const wanted = Math.max(bytes, Math.ceil(this.#bytes.length * 1.5))
    this.#shared.grow(headerBytes + Math.min(wanted, this.capBytes))
    this.#bytes = Buffer.from(this.#shared, headerBytes)
  }
}
