/** The displays of one piece of work. Later displays may replace or clear earlier ones. */
import type { DisplayFacts, MimeBundle } from '../../core/output.ts'

interface Shown {
  readonly bundle: MimeBundle
  readonly bytes: number
  readonly id: string | undefined
}

/** Enough for an object with thousands of small pictures; more would cost memory that no byte of them accounts for. */
const displaysMax = 4096

export class Displayed {
  #all: Shown[] = []
  #bytesLeft: number
  /** Cleared when the next one comes, so that nothing flickers. */
  #isClearing = false
  #freedBytes = 0

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  get bundles(): readonly MimeBundle[] {
    return this.#all.map(({ bundle }) => bundle)
  }

  /** Returns whether there was room. Replaced and cleared displays free their room. */
  add(bundle: MimeBundle, bytes: number, { displayId: id, isUpdate }: DisplayFacts): boolean {
    if (this.#isClearing) this.#forget(() => true)
    const shown = { bundle, bytes, id }
    const at = isUpdate === true ? this.#all.findIndex((one) => one.id === id) : -1
    const freed = at < 0 ? 0 : this.#bytesOf((one) => one.id === id)
    if (bytes > this.#bytesLeft + freed || (at < 0 && this.#all.length >= displaysMax)) return false
    if (at < 0) this.#all.push(shown)
    else {
      // All that have this id show the same; one of them holds it.
      this.#all = this.#all.filter((one, index) => index === at || one.id !== id)
      this.#all[at] = shown
    }
    this.#bytesLeft += freed - bytes
    this.#freedBytes += freed
    return true
  }

  clear(waits: boolean): void {
    if (waits) this.#isClearing = true
    else this.#forget(() => true)
  }

  /** Displays that were dropped since the last call. */
  takeFreedBytes(): number {
    const freed = this.#freedBytes
    this.#freedBytes = 0
    return freed
  }

  #forget(isMeant: (shown: Shown) => boolean): void {
    const freed = this.#bytesOf(isMeant)
    this.#bytesLeft += freed
    this.#freedBytes += freed
    this.#all = this.#all.filter((one) => !isMeant(one))
    this.#isClearing = false
  }

  #bytesOf(isMeant: (shown: Shown) => boolean): number {
    return this.#all.reduce((sum, one) => sum + (isMeant(one) ? one.bytes : 0), 0)
  }
}
