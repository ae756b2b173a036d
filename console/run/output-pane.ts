/** A program's output as it arrives. The page keeps only the end, because a program may print for ever. */
import { element } from '../elements.ts'
import { Colours } from './ansi.ts'

/** Characters of text that are shown. */
const shownMax = 200_000

type Stream = 'stdout' | 'stderr'

export class OutputPane {
  readonly root = element('pre', { class: 'output', tabindex: '0', 'aria-label': 'Output' })
  readonly #colours = { stdout: new Colours(), stderr: new Colours() }
  #shown = 0
  #pieces: { readonly stream: Stream; readonly text: string }[] = []
  #waiting = 0
  #isScheduled = false
  readonly #cut = element('span', { class: 'muted cut', hidden: true }, 'Earlier output is not shown.\n')

  constructor() {
    this.root.append(this.#cut)
  }

  add(stream: Stream, text: string): void {
    this.#pieces.push({ stream, text })
    this.#waiting += text.length
    // A page in the background draws nothing, so text that it would no longer show is discarded.
    while (this.#waiting > 2 * shownMax && this.#pieces.length > 1)
      this.#waiting -= this.#pieces.shift()?.text.length ?? 0
    if (this.#isScheduled) return
    this.#isScheduled = true
    requestAnimationFrame(() => this.flush())
  }

  /** Draws the waiting text at once. */
  flush(): void {
    this.#isScheduled = false
    const isAtEnd = this.root.scrollHeight - this.root.scrollTop - this.root.clientHeight < 40
    for (const { stream, text } of this.#pieces.splice(0)) this.#draw(stream, text)
    this.#waiting = 0
    if (isAtEnd) this.root.scrollTop = this.root.scrollHeight
  }

  get isEmpty(): boolean {
    return this.#shown === 0
  }

  #draw(stream: Stream, text: string): void {
    for (const { text: whole, className } of this.#colours[stream].read(text)) {
      const shown = whole.slice(-shownMax)
      if (shown.length < whole.length) this.#cut.hidden = false
      this.root.append(element('span', { class: `${stream} ${className}`.trim() }, shown))
      this.#shown += shown.length
    }
    while (this.#shown > shownMax) {
      const oldest = this.#cut.nextSibling
      if (oldest === null || oldest === this.root.lastChild) break
      this.#shown -= oldest.textContent?.length ?? 0
      oldest.remove()
      this.#cut.hidden = false
    }
  }
}
