/** `structuredClone` for the language's own types. */
import {
  isDate,
  isMap,
  isRegExp,
  isSet,
  isTypedArray,
  isAnyArrayBuffer,
  isDataView,
  isNativeError,
} from '../../../../core/values/built-in-kinds.ts'
import { apply, isArray, objectKeys, uncurryThis } from '../../../../core/primordials.ts'
import { hasField, unboxed } from '../../../../core/values/read-value.ts'
import { namedError } from './base64.ts'

const CloneMap = Map<unknown, unknown>
const cloneGet = uncurryThis(CloneMap.prototype.get)
const cloneSet = uncurryThis(CloneMap.prototype.set)
const mapForEach = uncurryThis(Map.prototype.forEach)
const mapSet = uncurryThis(Map.prototype.set)
const setForEach = uncurryThis(Set.prototype.forEach)
const setAdd = uncurryThis(Set.prototype.add)
const dateTime = uncurryThis(Date.prototype.getTime)
const { slice, transfer } = ArrayBuffer.prototype
const [NativeDate, NativeMap, NativeSet, NativeRegExp, NativeObject] = [Date, Map, Set, RegExp, Object]
const errorClasses = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }

export function cloneValue(value: unknown, options?: unknown): unknown {
  const seen = new CloneMap()
  const moved = (options as { transfer?: unknown } | undefined)?.transfer
  const clone = new Cloner(seen)
  if (isArray(moved)) for (let index = 0; index < moved.length; index++) clone.move(moved[index])
  return clone.clone(value)
}

class Cloner {
  readonly #seen: Map<unknown, unknown>
  constructor(seen: Map<unknown, unknown>) {
    this.#seen = seen
  }

  move(value: unknown): void {
    if (!isAnyArrayBuffer(value)) throw refused(value)
    cloneSet(this.#seen, value, apply(transfer, value as ArrayBuffer, []))
  }

  clone(value: unknown): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw refused(value)
    if (typeof value !== 'object' || value === null) return value
    const known = cloneGet(this.#seen, value)
    if (known !== undefined) return known
    const leaf = cloneLeaf(value)
    if (leaf !== undefined) return this.#note(value, leaf)
    if (isTypedArray(value) || isDataView(value)) return this.#view(value)
    if (isMap(value)) return this.#map(value)
    if (isSet(value)) return this.#set(value)
    if (isNativeError(value)) return this.#error(value)
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) throw refused(value)
    return this.#fields(value, isArray(value) ? [] : {})
  }

  #note<Copy>(value: object, copy: Copy): Copy {
    cloneSet(this.#seen, value, copy)
    return copy
  }

  #view(value: NodeJS.TypedArray | DataView): unknown {
    const buffer = this.clone(value.buffer) as ArrayBuffer
    const View = value.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => unknown
    const length = isDataView(value) ? value.byteLength : value.length
    return this.#note(value, new View(buffer, value.byteOffset, length))
  }

  #map(value: Map<unknown, unknown>): unknown {
    const copy = this.#note(value, new NativeMap())
    mapForEach(value, (item, key) => void mapSet(copy, this.clone(key), this.clone(item)))
    return copy
  }

  #set(value: Set<unknown>): unknown {
    const copy = this.#note(value, new NativeSet())
    setForEach(value, (item) => void setAdd(copy, this.clone(item)))
    return copy
  }

  #error(value: Error): unknown {
    const { name, message, stack } = value
    const Class = hasField(errorClasses, name)
      ? errorClasses[name as keyof typeof errorClasses]
      : errorClasses.Error
    const copy = this.#note(value, new Class(message))
    if (typeof stack === 'string') copy.stack = stack
    if (hasField(value, 'cause')) copy.cause = this.clone(value.cause)
    return copy
  }

  #fields(value: object, copy: object): unknown {
    this.#note(value, copy)
    if (isArray(value)) (copy as unknown[]).length = value.length
    const keys = objectKeys(value)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      const item = this.clone((value as Record<string, unknown>)[key])
      const descriptor = {
        __proto__: null,
        value: item,
        writable: true,
        enumerable: true,
        configurable: true,
      }
      NativeObject.defineProperty(copy, key, descriptor as PropertyDescriptor)
    }
    return copy
  }
}

/** Clones values that contain no other values. */
function cloneLeaf(value: object): unknown {
  if (isDate(value)) return new NativeDate(dateTime(value))
  if (isRegExp(value)) return new NativeRegExp(value.source, value.flags)
  if (isAnyArrayBuffer(value)) return apply(slice, value as ArrayBuffer, [0])
  const primitive = unboxed(value)
  return primitive === undefined ? undefined : NativeObject(primitive)
}

function refused(value: unknown): Error {
  const what = typeof value === 'object' ? 'This object' : `A ${typeof value}`
  return namedError('DataCloneError', `${what} could not be cloned`)
}
