/** Shows what a program displays: pictures, SVG and HTML, in which nothing runs, and everything else as plain text. */
import { fromBase64 } from '../../src/core/values/base64.ts'
import type { MimeBundle } from '../../src/core/output.ts'
import { element } from '../elements.ts'
import { showHtml } from './html-frame.ts'
import { showSvg } from './svg-frame.ts'

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
const drawing = 'image/svg+xml'
const page = 'text/html'
const texts = ['text/markdown', 'text/latex', 'application/json', 'text/plain'] as const
const textMax = 100_000

export function showDisplay(bundle: MimeBundle): HTMLElement {
  for (const type of pictures) {
    const data = bundle[type]
    if (data !== undefined) return showPicture(type, fromBase64(data), bundle)
  }
  const svg = bundle[drawing]
  if (svg !== undefined) return showSvg(svg, titleOf(bundle))
  const html = bundle[page]
  if (html !== undefined) return showHtml(html)
  const type = texts.find((one) => bundle[one] !== undefined) ?? Object.keys(bundle)[0] ?? 'text/plain'
  return showText(type, bundle[type] ?? '')
}

function showPicture(type: string, bytes: Uint8Array<ArrayBuffer>, bundle: MimeBundle): HTMLElement {
  const address = URL.createObjectURL(new Blob([bytes], { type }))
  const picture = element('img', { src: address, alt: titleOf(bundle) })
  picture.addEventListener('load', () => URL.revokeObjectURL(address))
  picture.addEventListener('error', () => {
    URL.revokeObjectURL(address)
    picture.replaceWith(element('p', { class: 'muted' }, `A picture that cannot be shown (${type}).`))
  })
  return element('figure', { class: 'display' }, picture)
}

function titleOf(bundle: MimeBundle): string {
  return (bundle['text/plain'] ?? 'A picture').slice(0, 200)
}

function showText(type: string, text: string): HTMLElement {
  return element(
    'figure',
    { class: 'display' },
    element('figcaption', { class: 'muted' }, type.slice(0, 100)),
    element('pre', {}, text.length > textMax ? `${text.slice(0, textMax)}…` : text),
  )
}
