/** The globals of a bare realm: those of the language, and none that an engine or a runtime adds. */
import { define } from '../modules/define.ts'

const names = new Set(
  (
    'AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView ' +
    'Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity ' +
    'Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ' +
    'ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError ' +
    'URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI ' +
    'decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt ' +
    'undefined unescape'
  ).split(' '),
)

/** Deletes all other globals: WebAssembly, ShadowRealm, the engine's console, and those of the harness. */
export function keepLanguage(): void {
  for (const key of Reflect.ownKeys(globalThis)) {
    if (typeof key === 'string' ? names.has(key) : key === Symbol.toStringTag) continue
    if (!Reflect.deleteProperty(globalThis, key)) throw new Error(`${String(key)} cannot be deleted`)
  }
}

export function addGlobals(globals: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(globals)) define(globalThis, name, value)
}
