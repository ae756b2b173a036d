/**
 * A program's output, in memory that both threads share. So the host has all of it, however the program ends. The limit
 * applies to the UTF-8 of the whole output, and truncation never splits a character.
 */
const headerBytes = 8
/** The length of U+FFFD, which replaces a lone surrogate. */
const replacementBytes = 3

/** The initial size. Most programs emit less. */
const firstBytes = 16 * 1024

/** Creates a growable buffer for up to `capBytes`. It starts small, because garbage collection frees such buffers late. */
export function createOutputBuffer(capBytes: number): SharedArrayBuffer {
  const maxByteLength = headerBytes + capBytes
  return new SharedArrayBuffer(Math.min(headerBytes + firstBytes, maxByteLength), { maxByteLength })
}

/** The output that has been written so far. */
export function readOutput(buffer: SharedArrayBuffer): string {
  return Buffer.from(buffer, headerBytes, Atomics.load(new Int32Array(buffer, 0, 1), 0)).toString()
}

export class OutputWriter {
  readonly #shared: SharedArrayBuffer
  readonly #length: Int32Array
  #bytes: Buffer
  #filled = 0
  /** The high surrogate at the end of the previous text, if there was one. */
  #half = ''

  constructor(buffer: SharedArrayBuffer) {
    this.#shared = buffer
    this.#length = new Int32Array(buffer, 0, 1)
    this.#bytes = Buffer.from(buffer, headerBytes)
  }

  get capBytes(): number {
    return this.#shared.maxByteLength - headerBytes
  }

  /** Returns whether the text fitted. Otherwise it was truncated between characters, and nothing may be appended any more. */
  append(text: string): boolean {
    const joined = this.#half + text
    const last = joined.charCodeAt(joined.length - 1)
    const endsInHalf = last >= 0xd800 && last <= 0xdbff
    const whole = endsInHalf ? joined.slice(0, -1) : joined
    this.#half = endsInHalf ? joined.slice(-1) : ''
    return this.#write(whole) && (!endsInHalf || this.#filled + replacementBytes <= this.capBytes)
  }

  /** Writes the rest when the program has ended. */
  finish(): void {
    this.#write(this.#half)
    this.#half = ''
  }

  #write(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    this.#grow(this.#filled + bytes)
    // `write` writes only whole characters.
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
