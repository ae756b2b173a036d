/**
 * Parts of plans that are the same for many cells. A part is made once and reused, so its records are encoded once
 * (plan-records.ts). The cache is bounded: shapes are usually few, and for a caller with many shapes the parts are made
 * again.
 */
const partsMax = 64

export class Remembered<Part> {
  readonly #parts = new Map<string, Part>()

  /** `key` identifies everything that `make` depends on. */
  get(key: readonly unknown[], make: () => Part): Part {
    const text = JSON.stringify(key)
    const known = this.#parts.get(text)
    if (known !== undefined) return known
    if (this.#parts.size >= partsMax) this.#parts.clear()
    const made = make()
    this.#parts.set(text, made)
    return made
  }
}
