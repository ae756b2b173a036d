/** The displays of one piece of work. Later displays may replace or clear earlier ones. */
import type { DisplayFacts, MimeBundle } from '../../core/output.ts'

interface Shown {
  readonly bundle: MimeBundle
  readonly bytes: number
  readonly id: string | undefined
}

/** Each display costs memory in addition to its bytes, so their number is limited, too. */
const displaysMax = 4096

export class Displayed {
  #all: Shown[] = []
  #bytesLeft: number
  /** Whether the next display clears the earlier ones, which avoids flicker. */
  #isClearing = false
  #freedBytes = 0

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  get bundles(): readonly MimeBundle[] {
    return this.#all.map(({ bundle }) => bundle)
  }

  /** Returns whether the display fits. Replaced and cleared displays free their bytes. */
  add(bundle: MimeBundle, bytes: number, { displayId: id, isUpdate }: DisplayFacts): boolean {
    if (this.#isClearing) this.#forgetAll()
    const shown = { bundle, bytes, id }
    const at = isUpdate === true ? this.#all.findIndex((one) => one.id === id) : -1
    const freed = at < 0 ? 0 : this.#bytesOf((one) => one.id === id)
    if (bytes > this.#bytesLeft + freed || (at < 0 && this.#all.length >= displaysMax)) return false
    if (at < 0) this.#all.push(shown)
    else {
      // An update replaces every display that has this id.
      this.#all = this.#all.filter((one, index) => index === at || one.id !== id)
      this.#all[at] = shown
    }
    this.#bytesLeft += freed - bytes
    this.#freedBytes += freed
    return true
  }

  clear(waits: boolean): void {
    if (waits) this.#isClearing = true
    else this.#forgetAll()
  }

  /** The bytes of displays that were dropped since the last call. */
  takeFreedBytes(): number {
    const freed = this.#freedBytes
    this.#freedBytes = 0
    return freed
  }

  #forgetAll(): void {
    const freed = this.#bytesOf(() => true)
    this.#bytesLeft += freed
    this.#freedBytes += freed
    this.#all = []
    this.#isClearing = false
  }

  #bytesOf(isCounted: (shown: Shown) => boolean): number {
    return this.#all.reduce((sum, one) => sum + (isCounted(one) ? one.bytes : 0), 0)
  }
}
