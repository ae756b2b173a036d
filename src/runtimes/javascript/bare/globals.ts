/** What a program in a bare realm finds: the language, and nothing that an engine or a runtime adds to it. */
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

/** Takes away the rest: WebAssembly, ShadowRealm, the engine's own console, and what the harness has put there. */
export function keepLanguage(): void {
  for (const key of Reflect.ownKeys(globalThis)) {
    if (typeof key === 'string' ? names.has(key) : key === Symbol.toStringTag) continue
    if (!Reflect.deleteProperty(globalThis, key)) throw new Error(`${String(key)} cannot be taken away`)
  }
}

export function addGlobals(globals: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(globals)) define(globalThis, name, value)
}
