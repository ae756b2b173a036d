/**
 * HTML of a guest in a frame with its own origin. No script runs in it, no form is sent and nothing is loaded: `sandbox=""`
 * and a policy each forbid it, and of the guest's elements only those that lay out text remain.
 */
import { frameStyle } from '../../src/adapters/http/browsers/frame-style.ts'
import { element } from '../elements.ts'
import { toPlainHtml } from './plain-html.ts'

const rowPx = 31
const heightPxMin = 60
const heightPxMax = 420

/** On top of the policy that the frame inherits from this page, which allows its one style by a hash. */
const nothing = ['script', 'img', 'font', 'media', 'object', 'frame', 'connect', 'manifest', 'worker']
  .map((kind) => `${kind}-src 'none'`)
  .concat("form-action 'none'", "base-uri 'none'")
  .join('; ')

export function showHtml(html: string): HTMLElement {
  const plain = toPlainHtml(html)
  const page = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>HTML of the program</title>',
    `<meta http-equiv="content-security-policy" content="${nothing}">`,
    `<style>${frameStyle}</style></head><body>${plain.html}</body></html>`,
  ].join('')
  const address = URL.createObjectURL(new Blob([page], { type: 'text/html' }))
  const frame = element('iframe', { sandbox: '', title: 'HTML of the program', loading: 'eager' })
  frame.style.height = `${Math.min(heightPxMax, Math.max(heightPxMin, (plain.rows + 1) * rowPx))}px`
  frame.src = address
  frame.addEventListener('load', () => URL.revokeObjectURL(address))
  return element('figure', { class: 'display html' }, frame)
}
