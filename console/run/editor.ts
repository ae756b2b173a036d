/** A field for code: line numbers, and Tab indents until Escape lets it leave. */
import { element } from '../elements.ts'

export class Editor {
  readonly area = element('textarea', {
    class: 'code',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    wrap: 'off',
    rows: 14,
    'aria-label': 'Code. Tab indents; press Escape first to leave the field with Tab.',
  })
  readonly #numbers = element('div', { class: 'numbers', 'aria-hidden': 'true' })
  readonly root = element('div', { class: 'editor' }, this.#numbers, this.area)
  #leaves = false

  constructor(run: () => void) {
    this.area.addEventListener('input', () => this.#number())
    this.area.addEventListener('scroll', () => (this.#numbers.scrollTop = this.area.scrollTop))
    this.area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        run()
      } else if (event.key === 'Escape') this.#leaves = true
      else if (event.key === 'Tab' && !this.#leaves && !event.shiftKey) {
        event.preventDefault()
        this.area.setRangeText('    ', this.area.selectionStart, this.area.selectionEnd, 'end')
        this.#number()
      } else if (event.key !== 'Tab') this.#leaves = false
    })
  }

  get text(): string {
    return this.area.value
  }

  set text(text: string) {
    this.area.value = text
    this.#number()
  }

  /** Selects a line, counted from 1. */
  goTo(line: number): void {
    const lines = this.text.split('\n')
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
    this.area.focus()
    this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
    this.area.scrollTop = Math.max(0, (line - 4) * 21)
  }

  #number(): void {
    const count = this.text.split('\n').length
    if (this.#numbers.childElementCount === count) return
    this.#numbers.replaceChildren(
      ...Array.from({ length: count }, (_, index) => element('span', {}, String(index + 1))),
    )
    this.#numbers.scrollTop = this.area.scrollTop
  }
}
