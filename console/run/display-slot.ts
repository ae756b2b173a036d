/** The place of one display, which another may replace. A picture is decoded before it replaces another, to avoid flicker. */
import type { MimeBundle } from '../../src/core/output.ts'
import { element } from '../elements.ts'
import { showDisplay } from './displays.ts'

export class DisplaySlot {
  readonly root = element('div', { class: 'slot' })
  #bundle: MimeBundle | undefined

  get bundle(): MimeBundle | undefined {
    return this.#bundle
  }

  show(bundle: MimeBundle): void {
    this.#bundle = bundle
    const figure = showDisplay(bundle)
    const picture = figure.querySelector('img')
    if (picture === null) this.root.replaceChildren(figure)
    else
      void picture
        .decode()
        .catch(() => undefined) // a broken picture shows its alternative text
        .then(() => this.#bundle === bundle && this.root.replaceChildren(figure))
  }
}
