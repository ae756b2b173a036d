/**
 * The code inside a bare realm. It is bundled into one script and evaluated in the realm, so all objects that guest code
 * finds, and all functions that inspect its values, belong to the realm. See `protocol.ts`.
 */
import { withBuffer } from './platform.ts'
import { decodeTagged } from '../../../core/values/decode-value.ts'
import { encodeValueToJson } from '../../../core/values/encode-value.ts'
import { messageOf, stringSlice, uncurryThis } from '../../../core/primordials.ts'
import { isError, readProperty, textOr } from '../../../core/values/read-value.ts'
import { addMethods, type Level } from '../console/console-methods.ts'
import { installDecoratorHelpers } from '../modules/decorators.ts'
import { define } from '../modules/define.ts'
import { addGlobals, keepLanguage } from './globals.ts'
import { type BareHost, type BareInside, type BareStart, openName, type OpenInside } from './protocol.ts'
import { show, showAll } from './shown.ts'
import { lockStackTraces } from './stack.ts'
import { applyToJson } from './to-json.ts'

const programName = '<code>'
const { now } = Date
const parse = JSON.parse as (json: string) => unknown
const then = uncurryThis(Promise.prototype.then)
const resolved = Promise.resolve()
const OwnError = Error
const errorName = 'Error'
const OwnTypeError = TypeError
const OwnRangeError = RangeError

let hasDecorators = false

const open: OpenInside = (outer) => {
  const host = guarded(outer)
  const fail = (thrown: unknown): void => {
    const { name, message, stack } = describe(thrown)
    host.fail(name, message, stack)
  }
  const inside: BareInside = {
    begin(program) {
      const run = () => runProgram(program, host, fail)
      void then(resolved, run)
    },
    fail,
    startModule: (main) => (main as (imports: object) => unknown)(imports),
    refuseImport(specifier) {
      const name = typeof specifier === 'string' ? ` "${specifier}"` : ''
      throw new OwnTypeError(`Cannot import${name}: there are no modules here.`)
    },
    addDecorators() {
      hasDecorators = true
    },
  }
  // A warm-up: the second call is faster.
  encodeValueToJson({ a: [1, 'a'] }, { maxBytes: 1000, replace: applyToJson })
  showAll([{ a: [1, 'a'] }])
  prepareRealm(host)
  return inside
}

define(globalThis, openName, open)

async function runProgram(
  { start, input, resultBytes }: BareStart,
  host: BareHost,
  fail: (thrown: unknown) => void,
): Promise<void> {
  prepareProgram(input)
  try {
    let value = start()
    if (isObject(value)) {
      host.setWaiting(true)
      value = await value
      host.setWaiting(false)
    }
    const { json, truncated } = encodeValueToJson(value, { maxBytes: resultBytes, replace: applyToJson })
    host.sendValue(json, show(value), truncated)
  } catch (thrown) {
    host.setWaiting(false)
    fail(thrown)
  }
}

/** Only these can be thenable. */
const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** The slow preparations that do not depend on the program. A parked worker does them before its run. */
function prepareRealm(host: BareHost): void {
  const console = {}
  const texts = { formatAll: showAll, inspectWith: show, tableText: () => undefined, traceText, now }
  addMethods(console, texts, (level: Level, text: string) => host.print(level, text))
  define(console, Symbol.toStringTag as unknown as string, 'console')
  keepLanguage()
  addGlobals({ console, input: undefined })
  lockStackTraces(programName, host.mapPositions)
}

/** The last step in the realm before guest code runs. */
function prepareProgram(input: string | undefined): void {
  if (input !== undefined) addGlobals({ input: withBuffer(() => decodeTagged(parse(input)).value) })
  if (hasDecorators) installDecoratorHelpers()
}

/** The stack of an error, with its first word replaced. */
function traceText(message: string): string {
  const { stack } = new OwnError(message)
  return `Trace${stringSlice(textOr(stack, errorName), errorName.length)}`
}

/** Stands in for the `Imports` of a module. Nothing is loaded, because `import()` refuses first. */
const imports = {
  meta: { __proto__: null },
  load: (module: Promise<object>) => module,
  check() {},
  caught: (thrown: unknown) => thrown,
}

interface Described {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

function describe(thrown: unknown): Described {
  if (typeof thrown !== 'object' || thrown === null)
    return { name: 'Uncaught', message: typeof thrown === 'string' ? thrown : show(thrown), stack: undefined }
  const message = readProperty(thrown, 'message')
  if (!isError(thrown))
    return { name: 'Uncaught', message: textOr(message, '') || show(thrown), stack: undefined }
  const stack = readProperty(thrown, 'stack')
  return {
    name: textOr(readProperty(thrown, 'name'), 'Error'),
    message: textOr(message, ''),
    stack: typeof stack === 'string' ? stack : undefined,
  }
}

/**
 * Replaces an error that a function of the harness throws, such as a stack overflow, with one of this realm: an object
 * of the harness's realm would lead guest code out of the bare realm.
 */
function guarded({ print, sendValue, fail, setWaiting, mapPositions }: BareHost): BareHost {
  const orOwnError = <Result>(call: () => Result): Result => {
    let reason: string
    try {
      return call()
    } catch (thrown) {
      reason = messageOf(thrown)
    }
    throw new OwnRangeError(reason)
  }
  return {
    print: (level, text) => orOwnError(() => print(level, text)),
    sendValue: (json, text, isTruncated) => orOwnError(() => sendValue(json, text, isTruncated)),
    fail: (name, message, stack) => orOwnError(() => fail(name, message, stack)),
    setWaiting: (isWaiting) => orOwnError(() => setWaiting(isWaiting)),
    mapPositions: (text) => orOwnError(() => mapPositions(text)),
  }
}
