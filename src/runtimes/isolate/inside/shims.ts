/**
 * What a program finds besides the language: a console, `require`, and the few names of the platform that need no host.
 * Frozen, and made when they are first asked for where that costs something.
 */
import { apply, defineProperty, stringSlice } from '../../../core/primordials.ts'
import { addMethods, type Level } from '../../javascript/console-methods.ts'
import { show, showAll } from '../../javascript/bare/shown.ts'
import { define } from '../../javascript/define.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { cloneValue } from './clone-value.ts'
import { createCrypto } from './crypto.ts'
import { createTextDecoder, createTextEncoder } from './text-coding.ts'
import type { IsolateProgram, Outside } from './protocol.ts'
import { refuse } from './security.ts'

/** Of one call of a console method. */
const textMax = 256 * 1024

const { freeze } = Object
const { now } = Date
const NativePromise = Promise
const NativeTypeError = TypeError
const resolved = NativePromise.resolve()
const then = Promise.prototype.then
const OwnError = Error

export function addShims(outside: Outside, require: (name: unknown) => unknown): void {
  addFunction('require', require)
  addFunction('fetch', () => {
    throw refuse('Network access via fetch()')
  })
  addFunction('atob', (text) => decodeBase64(`${text as string}`))
  addFunction('btoa', (text) => encodeBase64(`${text as string}`))
  addFunction('structuredClone', (value, options) => cloneValue(value, options))
  addFunction('queueMicrotask', (callback) => {
    if (typeof callback !== 'function') throw new NativeTypeError('queueMicrotask() takes a function')
    void apply(then, resolved, [() => void (callback as () => unknown)()])
  })
  addLater('TextEncoder', createTextEncoder)
  addLater('TextDecoder', createTextDecoder)
  addLater('crypto', () => createCrypto(outside))
}

/** In mode `service` a text says its level, as its readers expect. */
export function addConsole(outside: Outside, mode: IsolateProgram['mode']): void {
  const print = (level: Level, text: string): void => {
    const cut = text.length > textMax ? `${stringSlice(text, 0, textMax)}…` : text
    outside.log(level, mode === 'service' ? `${labels[level]} ${cut}` : cut)
  }
  const console = {}
  addMethods(
    console,
    { formatAll: showAll, inspectWith: show, tableText: () => undefined, traceText, now },
    print,
  )
  define(console, Symbol.toStringTag as unknown as string, 'console')
  for (const method of Object.values(console)) freeze(method)
  define(globalThis, 'console', freeze(console))
}

const labels: Readonly<Record<Level, string>> = {
  __proto__: null,
  log: '[LOG]',
  error: '[ERROR]',
  warn: '[WARN]',
  info: '[INFO]',
  debug: '[DEBUG]',
} as unknown as Readonly<Record<Level, string>>

const errorName = 'Error'

/** A stack of an error says where; its first word is changed. */
function traceText(message: string): string {
  const { stack } = new OwnError(message)
  return `Trace${stringSlice(`${stack}`, errorName.length)}`
}

function addFunction(name: string, body: (...values: unknown[]) => unknown): void {
  defineProperty(body, 'name', { __proto__: null, value: name } as PropertyDescriptor)
  define(globalThis, name, freeze(body))
}

/** A global that becomes what it is when somebody looks. */
function addLater(name: string, create: () => unknown): void {
  defineProperty(globalThis, name, {
    __proto__: null,
    get() {
      const value = create()
      define(globalThis, name, value)
      return value
    },
    set: (value: unknown) => define(globalThis, name, value),
    enumerable: false,
    configurable: true,
  } as PropertyDescriptor)
}
