/** The names under which guest code may find functions of the host. */
import { z } from 'zod'

import type { HostFunction, Language } from '../../core/request.ts'

const functionsMax = 256
const nameLengthMax = 64

/** Names that guests already have in some language: a set of functions must work in all languages. */
const ownNames = new Set([
  'input',
  'input_data',
  'display',
  'HostFunctionError',
  'require',
  'module',
  'exports',
  'console',
  'process',
  'globalThis',
  'global',
  'self',
])

/** Words that are not names, and names that JavaScript does not allow to be redefined. */
const javascriptWords = new Set([
  ...(
    'arguments async await break case catch class const continue debugger default delete do else enum eval export ' +
    'extends false finally for function if implements import in instanceof interface let new null of package private ' +
    'protected public return static super switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
  'NaN',
  'Infinity',
  // Names that programs, libraries and the harness expect from the language itself.
  ...(
    'AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean Buffer Bun DataView Date ' +
    'Error EvalError FinalizationRegistry Float32Array Float64Array Function Int8Array Int16Array Int32Array Intl ' +
    'Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set ' +
    'SharedArrayBuffer String Symbol SyntaxError TextDecoder TextEncoder TypeError URIError Uint8Array ' +
    'Uint8ClampedArray Uint16Array Uint32Array WeakMap WeakRef WeakSet WebAssembly'
  ).split(' '),
])
const pythonWords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)
const words: Readonly<Record<Language, ReadonlySet<string>>> = {
  javascript: javascriptWords,
  typescript: javascriptWords,
  python: pythonWords,
  shell: new Set(),
}

const hasMeaning = 'is a name with a special meaning'

const functionName = z
  .string()
  .max(nameLengthMax)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not an identifier')
  .refine((name) => !ownNames.has(name), { error: 'is a name that every guest already has' })
  .refine((name) => !name.startsWith('__') && !(name in Object.prototype), {
    error: hasMeaning,
  })

/**
 * Zod takes an object with a function called `constructor` for an instance of a class, and does not check its names.
 */
const functionsObject = z.custom<Record<string, unknown>>().superRefine((value, context) => {
  if (!isPlain(value))
    context.addIssue({
      code: 'custom',
      message: 'must be a plain object whose values are functions',
      continue: false,
    })
  else if (Object.hasOwn(value, 'constructor'))
    context.addIssue({ code: 'custom', path: ['constructor'], message: hasMeaning, continue: false })
})

const functionsRecord = z
  .record(
    functionName,
    z.custom<HostFunction>((value) => typeof value === 'function', { error: 'is not a function' }),
  )
  .refine((functions) => Object.keys(functions).length <= functionsMax, {
    error: `more than ${functionsMax} functions`,
  })

export const functionsSchema = functionsObject.pipe(functionsRecord)

/** An object of this realm or of another one. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Adds an issue for each name that the language of the request cannot use. */
export function checkFunctions(
  { functions = {}, language }: { readonly functions?: object | undefined; readonly language: Language },
  context: z.RefinementCtx,
): void {
  const names = Object.keys(functions)
  if (language === 'shell' && names.length > 0) {
    context.addIssue({ code: 'custom', path: ['functions'], message: 'shell cannot call functions' })
    return
  }
  for (const name of names.filter((each) => words[language].has(each)))
    context.addIssue({ code: 'custom', path: ['functions', name], message: `has a meaning in ${language}` })
}
