/**
 * What a program displays, while it runs and afterwards. A program may show, replace and clear displays endlessly. The page
 * keeps only the current ones and draws a few at a time, so that its buttons still respond.
 */
import type { DisplayFacts, MimeBundle } from '../../src/core/output.ts'
import { Displayed } from '../../src/runtimes/displays/displayed.ts'
import { button, element } from '../elements.ts'
import { DisplaySlot } from './display-slot.ts'

/** The highest `resultBytes`: the server keeps no more either. */
const keptBytesMax = 256 * 1024 * 1024
/** Displays that are drawn at first, and for each further click. */
const pageLength = 100
const betweenMs = 100
/** The most that is drawn at one time. Each display counts as its length and a fixed cost. */
const charactersAtOnce = 2_000_000
const charactersOfEach = 100_000

export class DisplayPane {
  readonly root = element('div', { class: 'displays' })
  readonly #all = element('div', { class: 'displays' })
  readonly #more = button(`Show ${pageLength} more displays`, () => this.#showMore(), { class: 'quiet' })
  readonly #kept = new Displayed(keptBytesMax)
  readonly #slots: DisplaySlot[] = []
  #final: readonly MimeBundle[] | undefined
  #shownMax = pageLength
  #isWaiting = false

  show(bundle: MimeBundle, facts: DisplayFacts): void {
    this.#kept.add(bundle, lengthOf(bundle), facts)
    this.#drawSoon()
  }

  clear(waits: boolean): void {
    this.#kept.clear(waits)
    this.#drawSoon()
  }

  /** Shows the displays of the result. Those that are already drawn stay as they are. */
  settle(displays: readonly MimeBundle[]): void {
    const drawn = this.#kept.bundles
    this.#final = displays.map((one, index) => {
      const before = drawn[index]
      return before !== undefined && isSame(before, one) ? before : one
    })
    if (displays.length === 0) this.root.remove()
    else this.#drawSoon()
  }

  #showMore(): void {
    this.#shownMax += pageLength
    this.#drawSoon()
  }

  #drawSoon(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    setTimeout(() => {
      this.#isWaiting = false
      this.#draw()
    }, betweenMs)
  }

  #draw(): void {
    const all = this.#final ?? this.#kept.bundles
    const wanted = all.slice(0, this.#shownMax)
    for (const { root } of this.#slots.splice(wanted.length)) root.remove()
    let characters = 0
    for (const [index, bundle] of wanted.entries()) {
      const slot = this.#slots[index] ?? this.#addSlot()
      if (slot.bundle === bundle) continue
      if (characters > charactersAtOnce) {
        this.#drawSoon()
        break
      }
      characters += charactersOfEach + lengthOf(bundle)
      slot.show(bundle)
    }
    this.#more.hidden = all.length <= this.#shownMax
    if (this.#all.parentNode === null) this.root.append(this.#all, this.#more)
  }

  #addSlot(): DisplaySlot {
    const slot = new DisplaySlot()
    this.#slots.push(slot)
    this.#all.append(slot.root)
    return slot
  }
}

function lengthOf(bundle: MimeBundle): number {
  return Object.entries(bundle).reduce((sum, [type, text]) => sum + type.length + text.length, 1)
}

function isSame(one: MimeBundle, other: MimeBundle): boolean {
  const types = Object.keys(one)
  return (
    types.length === Object.keys(other).length &&
    types.every((type) => Object.hasOwn(other, type) && one[type] === other[type])
  )
}
