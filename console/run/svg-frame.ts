/**
 * An SVG of a guest, which is drawn only on request: a few hundred bytes can take minutes to draw. It is an image in a
 * frame, so it runs nothing, loads nothing, and holds this page only in browsers that do not isolate the frame.
 */
import { toBase64 } from '../../src/core/values/base64.ts'
import { button, element } from '../elements.ts'
import { sayBytes } from '../quantities.ts'
import { frameGuest } from './guest-frame.ts'

/** The margins of the frame's body. */
const marginsPx = 16
const heightPxUnknown = 400
const pxOfPt = 4 / 3

export function showSvg(svg: string, title: string): HTMLElement {
  const bytes = new TextEncoder().encode(svg)
  const figure = element('figure', { class: 'display framed' })
  const draw = (): void =>
    figure.replaceChildren(
      frameGuest({
        body: `<img alt="A picture that cannot be shown (SVG)." src="data:image/svg+xml;base64,${toBase64(bytes)}">`,
        title,
        heightPx: heightOf(svg) + marginsPx,
        images: 'data:',
      }),
    )
  figure.append(button(`Show SVG, ${sayBytes(bytes.length)}`, draw))
  return figure
}

/** What the root element says, because a page cannot measure the contents of such a frame. */
function heightOf(svg: string): number {
  const start = svg.indexOf('<svg')
  const root = svg.slice(start, svg.indexOf('>', start))
  const [, height, unit] = /\sheight=["']([\d.]{1,10})(px|pt)?["']/.exec(root) ?? []
  if (height === undefined) return heightPxUnknown
  return Number(height) * (unit === 'pt' ? pxOfPt : 1) || heightPxUnknown
}
