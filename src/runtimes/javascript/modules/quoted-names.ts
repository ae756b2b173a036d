/**
 * Engines quote code in messages, as in `x is not a function`. Compiled code reads an imported name from an object of the
 * harness, so the quotation contains that object. This module restores the guest's own name.
 */
import {
  defineProperty,
  getOwnPropertyDescriptor,
  stringIncludes,
  stringIndexOf,
  stringSlice,
} from '../../../core/primordials.ts'
import { readProperty } from '../../../core/values/read-value.ts'

// The forms in which Bun and Node quote the callee.
const calls = ['(0,', '(0 , ']
const readOnly = 'Assignment to constant variable.'

/** The start of V8's quotation of the object itself, as in the error for `x ||= 1`. */
let objectQuotation: string | undefined
let prefix: string | undefined

/** `live` is the variable that holds the object. */
export function setLiveName(live: string): void {
  objectQuotation = ` of class ${live}{`
  prefix = `${live}.`
}

/** Corrects the message and the stack of an error that mentions the object. */
export function unquote(thrown: unknown): void {
  if (prefix === undefined || typeof thrown !== 'object' || thrown === null) return
  try {
    const message: unknown = getOwnPropertyDescriptor(thrown, 'message')?.value
    if (typeof message !== 'string') return
    const corrected = withoutObject(message)
    if (corrected === message) return
    replaceText(thrown, 'message', corrected)
    const stack = readProperty(thrown, 'stack')
    const start = typeof stack === 'string' ? stringIndexOf(stack, message) : -1
    if (typeof stack !== 'string' || start === -1) return
    const end = stringSlice(stack, start + message.length)
    replaceText(thrown, 'stack', stringSlice(stack, 0, start) + corrected + end)
  } catch {
    // Frozen, or a proxy: then the error stays unchanged.
  }
}

function withoutObject(text: string): string {
  if (objectQuotation === undefined || prefix === undefined) return text
  if (stringIncludes(text, objectQuotation)) return readOnly
  return stringIncludes(text, prefix) ? withoutPrefix(text, prefix) : text
}

function replaceText(error: object, name: string, value: string): void {
  defineProperty(error, name, {
    __proto__: null,
    value,
    enumerable: false,
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
}

function withoutPrefix(text: string, marker: string): string {
  let shown = ''
  let from = 0
  for (let start = stringIndexOf(text, marker, 0); start !== -1; start = stringIndexOf(text, marker, from)) {
    const nameStart = start + marker.length
    const call = callBefore(text, start)
    const end = call === undefined ? -1 : stringIndexOf(text, ')', nameStart)
    if (call === undefined || end === -1) {
      shown += stringSlice(text, from, start)
      from = nameStart
    } else {
      shown += stringSlice(text, from, start - call.length) + stringSlice(text, nameStart, end)
      from = end + 1
    }
  }
  return shown + stringSlice(text, from)
}

/** The `(0,` that ends at `end`, in the engine's notation, if there is one. */
function callBefore(text: string, end: number): string | undefined {
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index] as string
    if (end >= call.length && stringSlice(text, end - call.length, end) === call) return call
  }
  return undefined
}
