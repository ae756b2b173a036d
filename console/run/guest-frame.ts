/**
 * A frame with its own origin, for guest content. No script runs in it, no form is sent and nothing is loaded:
 * `sandbox=""` and a policy each forbid it. Browsers that isolate sites, such as Chromium on a desktop, draw it in
 * another process, so a costly drawing does not hold this page.
 */
import { frameStyle } from '../../src/adapters/http/browsers/frame-style.ts'
import { element } from '../elements.ts'

const heightPxMin = 60
const heightPxMax = 420

/** On top of the policy that the frame inherits from this page, which allows its one style by a hash. */
const refused = ['script', 'font', 'media', 'object', 'frame', 'connect', 'manifest', 'worker']
  .map((kind) => `${kind}-src 'none'`)
  .concat("form-action 'none'", "base-uri 'none'")

export interface Framed {
  /** HTML of the console's own making, in which text of the guest is escaped or rewritten. */
  readonly body: string
  readonly title: string
  readonly heightPx: number
  readonly images: "'none'" | 'data:'
}

export function frameGuest({ body, title, heightPx, images }: Framed): HTMLIFrameElement {
  const policy = [...refused, `img-src ${images}`].join('; ')
  const page = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Made by the program</title>',
    `<meta http-equiv="content-security-policy" content="${policy}">`,
    `<style>${frameStyle}</style></head><body>${body}</body></html>`,
  ].join('')
  const address = URL.createObjectURL(new Blob([page], { type: 'text/html' }))
  const frame = element('iframe', { sandbox: '', title, loading: 'eager' })
  frame.style.height = `${Math.min(heightPxMax, Math.max(heightPxMin, heightPx))}px`
  frame.src = address
  frame.addEventListener('load', () => URL.revokeObjectURL(address))
  return frame
}
