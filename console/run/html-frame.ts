/** HTML of a guest in a frame. Of the guest's elements only those that lay out text remain. */
import { element } from '../elements.ts'
import { frameGuest } from './guest-frame.ts'
import { toPlainHtml } from './plain-html.ts'

const rowPx = 31

export function showHtml(html: string): HTMLElement {
  const plain = toPlainHtml(html)
  const frame = frameGuest({
    body: plain.html,
    title: 'HTML of the program',
    heightPx: (plain.rows + 1) * rowPx,
    images: "'none'",
  })
  return element('figure', { class: 'display framed' }, frame)
}
