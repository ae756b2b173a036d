/**
 * Bun's errors of the web platform (`DOMException`): their `stack` is JavaScriptCore's own (`name@place` in each line, no
 * header, with the harness's frames), and those that programs create have none. Here they are told like other errors.
 */
import {
  defineProperty,
  getOwnPropertyDescriptor,
  objectKeys,
  stringEndsWith,
  stringIncludes,
  stringIndexOf,
  stringSlice,
} from '../../../core/primordials.ts'
import { readProperty, textOr } from '../../../core/values/read-value.ts'
import { programName } from './positions.ts'

/** The parts of stack.ts that this file needs. */
interface StackTexts {
  readonly mapPositions: (text: string) => string
  readonly isHarness: (place: string) => boolean
}

type Inspect = (value: unknown, options: object) => string

const NativeError = Error
const { captureStackTrace } = Error
const { construct } = Reflect
const positionFields = ['line', 'column', 'sourceURL']
let texts: StackTexts | undefined

/** The frames of a stack that JavaScriptCore wrote, as other stacks show them. `undefined` if it is another one. */
export function framesOf(error: object): string | undefined {
  const stack = readProperty(error, 'stack')
  if (texts === undefined || typeof stack !== 'string') return undefined
  if (stringIncludes(stack, '\n    at ')) return undefined
  let frames = ''
  for (let from = 0; from <= stack.length;) {
    const newline = stringIndexOf(stack, '\n', from)
    const end = newline === -1 ? stack.length : newline
    const line = stringSlice(stack, from, end)
    const at = stringIndexOf(line, '@')
    if (at === -1) return undefined
    const frame = frameText(stringSlice(line, 0, at), stringSlice(line, at + 1), {
      place: frames === '' ? placeOf(error) : undefined,
      told: texts,
    })
    if (frame !== undefined) frames += `\n    at ${frame}`
    from = end + 1
  }
  return frames
}

/** The program's own frames may lack a place, because Bun evaluates it. */
function frameText(
  name: string,
  written: string,
  { place, told }: { readonly place: string | undefined; readonly told: StackTexts },
): string | undefined {
  if (written === '[native code]' || told.isHarness(written)) return undefined
  const shown = told.mapPositions(written === '' ? (place ?? programName) : written)
  return name === '' || stringEndsWith(name, ' code') ? shown : `${name} (${shown})`
}

/** The position that Bun notes beside the stack. It belongs to the first frame. */
function placeOf(error: object): string | undefined {
  const [line, column] = [readProperty(error, 'line'), readProperty(error, 'column')]
  return typeof line === 'number' && typeof column === 'number'
    ? `${programName}:${line}:${column}`
    : undefined
}

/** Gives each new `DOMException` a stack, and lets `inspect` show those that the engine throws. */
export function tellExceptions(told: StackTexts): void {
  const isInstalled = texts !== undefined
  texts = told
  if (isInstalled) return
  const Native = globalThis.DOMException
  const Told = new Proxy(Native, {
    construct(target, values, newTarget: typeof Native) {
      const exception = construct(target, values, newTarget === Told ? target : newTarget) as object
      captureStackTrace(exception, newTarget)
      return exception
    },
  })
  define(globalThis, 'DOMException', Told)
  define(Native.prototype, 'constructor', Told)
  define(Native.prototype, Symbol.for('nodejs.util.inspect.custom'), inspectException)
}

function define(owner: object, name: string | symbol, value: unknown): void {
  defineProperty(owner, name, { __proto__: null, value, writable: true, configurable: true } as object)
}

/** Shows an ordinary error with the same texts and fields. */
function inspectException(this: object, _depth: number, options: object, inspect: Inspect): string {
  const name = textOr(readProperty(this, 'name'), 'Error')
  const message = textOr(readProperty(this, 'message'), '')
  const twin = new NativeError(message)
  for (const key of objectKeys(this)) {
    const property = getOwnPropertyDescriptor(this, key)
    if (property !== undefined && !positionFields.includes(key)) defineProperty(twin, key, property)
  }
  const cause = getOwnPropertyDescriptor(this, 'cause')
  if (cause !== undefined) defineProperty(twin, 'cause', cause)
  const frames = framesOf(this) ?? preparedFrames(readProperty(this, 'stack'))
  define(twin, 'stack', `DOMException [${name}]: ${message}${frames}`)
  return inspect(twin, options)
}

function preparedFrames(stack: unknown): string {
  const start = typeof stack === 'string' ? stringIndexOf(stack, '\n    at ') : -1
  return start === -1 ? '' : stringSlice(stack, start)
}
