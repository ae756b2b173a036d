/**
 * The globals that a program finds besides the language: a console, `require`, and the few names of the platform that need
 * no host. All but `require` are created at their first use. All are frozen.
 */
import { apply, defineProperty, objectKeys, stringSlice } from '../../../../core/primordials.ts'
import { addMethods, type Level } from '../../../javascript/console/console-methods.ts'
import { show, showAll } from '../../../javascript/bare/shown.ts'
import { define } from '../../../javascript/modules/define.ts'
import type { OpenPart } from '../parts.ts'
import { importRefuser, type Outside } from '../protocol.ts'
import { refuse } from '../security.ts'
import type { ShimsPart } from '../shims-part.ts'
import type { Urls } from './urls.ts'

/** The limit on the text of one console call. */
const textMax = 256 * 1024

const { freeze } = Object
const { now } = Date
const { toStringTag } = Symbol
const NativePromise = Promise
const NativeTypeError = TypeError
const resolved = NativePromise.resolve()
const then = Promise.prototype.then
const OwnError = Error

interface Surroundings {
  readonly outside: Outside
  readonly openPart: OpenPart
  readonly require: (name: unknown) => unknown
  /** Whether each text in the log starts with its level. */
  readonly hasLabels: () => boolean
}

export function addShims({ outside, openPart, require, hasLabels }: Surroundings): void {
  let opened: ShimsPart | undefined
  const part = (): ShimsPart => (opened ??= openPart('shims'))
  define(globalThis, 'require', named('require', require))
  addLater('console', () => createConsole(outside, hasLabels))
  addLater('fetch', (name) =>
    named(name, () => {
      throw refuse('Network access via fetch()')
    }),
  )
  addLater(importRefuser, (name) =>
    named(name, () => {
      throw refuse('import()')
    }),
  )
  addLater('queueMicrotask', (name) => named(name, queueTask))
  addLater('atob', (name) => named(name, part().decodeBase64))
  addLater('btoa', (name) => named(name, part().encodeBase64))
  addLater('structuredClone', (name) => named(name, part().cloneValue))
  addLater('TextEncoder', () => part().createTextEncoder())
  addLater('TextDecoder', () => part().createTextDecoder())
  addLater('crypto', () => part().createCrypto(outside))
  let urls: Urls | undefined
  const openUrls = (): Urls => (urls ??= part().createUrls(outside))
  addLater('URL', () => openUrls().URL)
  addLater('URLSearchParams', () => openUrls().URLSearchParams)
}

function queueTask(callback: unknown): void {
  if (typeof callback !== 'function') throw new NativeTypeError('queueMicrotask() takes a function')
  void apply(then, resolved, [() => void (callback as () => unknown)()])
}

function createConsole(outside: Outside, hasLabels: () => boolean): object {
  const print = (level: Level, text: string): void => {
    const cut = text.length > textMax ? `${stringSlice(text, 0, textMax)}…` : text
    outside.log(level, hasLabels() ? `${labels[level]} ${cut}` : cut)
  }
  const texts = { formatAll: showAll, inspectWith: show, tableText: () => undefined, traceText, now }
  const console: Record<string, unknown> = {}
  addMethods(console, texts, print)
  define(console, toStringTag as unknown as string, 'console')
  const names = objectKeys(console)
  for (let index = 0; index < names.length; index++) freeze(console[names[index] as string])
  return freeze(console)
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

/** The stack of an error, with its first word replaced. */
function traceText(message: string): string {
  const { stack } = new OwnError(message)
  return `Trace${stringSlice(`${stack}`, errorName.length)}`
}

function named(name: string, body: (...values: never[]) => unknown): unknown {
  defineProperty(body, 'name', { __proto__: null, value: name } as PropertyDescriptor)
  const { prototype } = body as { readonly prototype?: object }
  if (prototype !== undefined) freeze(prototype)
  return freeze(body)
}

/** A global that is created when it is first read. The value is cached here, because the program may freeze the property. */
function addLater(name: string, create: (name: string) => unknown): void {
  let made: { readonly value: unknown } | undefined
  defineProperty(globalThis, name, {
    __proto__: null,
    get: () => (made ??= { value: create(name) }).value,
    set: (value: unknown) => define(globalThis, name, value),
    enumerable: false,
    configurable: true,
  } as PropertyDescriptor)
}
