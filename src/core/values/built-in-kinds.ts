/**
 * What kind of built-in an object is, whatever its prototype says. Bun needs more than half a millisecond to load
 * `node:util/types`, so it is loaded when the first object is checked.
 */
import type * as utilTypes from 'node:util/types'
import { kindsByTag } from './kinds-by-tag.ts'

type Types = typeof utilTypes

// A browser has no process object, and no guest code in the page.
const getBuiltinModule = typeof process === 'undefined' ? undefined : process.getBuiltinModule.bind(process)
let loaded: Types | typeof kindsByTag | undefined

// A copy: guest code may change what the module exports.
const types = (): Types | typeof kindsByTag =>
  (loaded ??= getBuiltinModule === undefined ? kindsByTag : { ...getBuiltinModule('node:util/types') })

// In Node the module is already loaded. Taking its functions now protects them from guest code.
if (typeof process !== 'undefined' && process.versions['bun'] === undefined) types()

export const isAnyArrayBuffer = (value: unknown): value is ArrayBufferLike => types().isAnyArrayBuffer(value)
export const isBigIntObject = (value: unknown): value is bigint => types().isBigIntObject(value)
export const isBooleanObject = (value: unknown): value is boolean => types().isBooleanObject(value)
export const isDataView = (value: unknown): value is DataView => types().isDataView(value)
export const isDate = (value: unknown): value is Date => types().isDate(value)
export const isMap = (value: unknown): value is Map<unknown, unknown> => types().isMap(value)
export const isNativeError = (value: unknown): value is Error => types().isNativeError(value)
export const isNumberObject = (value: unknown): value is number => types().isNumberObject(value)
export const isRegExp = (value: unknown): value is RegExp => types().isRegExp(value)
export const isSet = (value: unknown): value is Set<unknown> => types().isSet(value)
export const isStringObject = (value: unknown): value is string => types().isStringObject(value)
export const isTypedArray = (value: unknown): value is NodeJS.TypedArray => types().isTypedArray(value)
