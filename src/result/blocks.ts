const blockBytesMin = 1024
const blockBytesMax = 1024 * 1024

/**
 * Collects bytes in a few large blocks: a guest that writes one byte at a time must not cost the host an object for
 * each.
 */
export class Blocks {
  readonly #full: Buffer[] = []
  #last = Buffer.alloc(0)
  #used = 0

  add(view: Buffer): void {
    const fits = view.copy(this.#last, this.#used)
    this.#used += fits
    if (fits === view.length) return
    if (this.#used > 0) this.#full.push(this.#last.subarray(0, this.#used))
    const rest = view.subarray(fits)
    this.#last = Buffer.allocUnsafeSlow(
      Math.max(rest.length, blockBytesMin, Math.min(2 * this.#last.length, blockBytesMax)),
    )
    this.#used = rest.copy(this.#last)
  }

  /** The blocks in order, once. Each is forgotten when the next is taken. */
  *take(): Generator<Buffer> {
    for (let next = this.#full.shift(); next !== undefined; next = this.#full.shift()) yield next
    const last = this.#last.subarray(0, this.#used)
    this.#last = Buffer.alloc(0)
    this.#used = 0
    yield last
  }

  join(): Buffer {
    return Buffer.concat([...this.#full, this.#last.subarray(0, this.#used)])
  }
}
