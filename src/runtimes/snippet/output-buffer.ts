/**
 * What a program emits, in memory that both threads see: whatever way the program ends, the host has all of it. The
 * cap counts the UTF-8 of everything together, and a character is never cut.
 */
const headerBytes = 8
/** What U+FFFD takes. It stands for half of a surrogate pair that the other half never followed. */
const replacementBytes = 3

/** Room for `capBytes` of output. */
export function createOutputBuffer(capBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes + capBytes)
}

/** What has been written so far. */
export function readOutput(buffer: SharedArrayBuffer): string {
  return Buffer.from(buffer, headerBytes, Atomics.load(new Int32Array(buffer, 0, 1), 0)).toString()
}

export class OutputWriter {
  readonly #length: Int32Array
  readonly #bytes: Buffer
  #filled = 0
  /** The first half of a surrogate pair, if that was the end of the text before. */
  #half = ''

  constructor(buffer: SharedArrayBuffer) {
    this.#length = new Int32Array(buffer, 0, 1)
    this.#bytes = Buffer.from(buffer, headerBytes)
  }

  get capBytes(): number {
    return this.#bytes.length
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
    // It writes whole characters only.
    const written = this.#bytes.write(text, this.#filled)
    this.#filled += written
    Atomics.store(this.#length, 0, this.#filled)
    return written === Buffer.byteLength(text)
  }
}
