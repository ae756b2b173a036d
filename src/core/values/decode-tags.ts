/**
 * Decodes the tags that contain other values: each becomes an empty live value, and a description of where its members
 * go. The whole shape is checked before anything is created; the result is `undefined` if the shape is wrong. The input
 * may be hostile, so the work stays proportional to its size.
 */
import type { Fields } from './decode-leaf.ts'
import { keysOf } from '../known-keys.ts'

/** A live value that is being filled, and its encoded members. */
export interface Filling {
  readonly live: unknown
  readonly count: number
  /** The encoded member. */
  read(index: number): unknown
  /** Called in order. A member that has members itself is still empty. */
  put(index: number, member: unknown): void
}

/** Own fields of an encoded object; a key `__proto__` stays a key. */
export class FieldsFilling implements Filling {
  readonly live: object = {}
  readonly count: number
  readonly #fields: Fields
  readonly #keys: readonly string[]

  constructor(fields: Fields) {
    this.#fields = fields
    this.#keys = keysOf(fields)
    this.count = this.#keys.length
  }

  read(index: number): unknown {
    return this.#fields[this.#keys[index] as string]
  }

  put(index: number, member: unknown): void {
    setField(this.live, this.#keys[index] as string, member)
  }
}

/** An encoded array; a `hole` stays one. */
export class ArrayFilling implements Filling {
  readonly live: unknown[] = []
  readonly count: number
  readonly #items: readonly unknown[]

  constructor(items: readonly unknown[]) {
    this.#items = items
    this.count = items.length
  }

  read(index: number): unknown {
    return this.#items[index]
  }

  put(index: number, member: unknown): void {
    if (isHole(this.#items[index])) this.live.length = index + 1
    else this.live[index] = member
  }
}

export const fillings: ReadonlyMap<string, (node: Fields) => Filling | undefined> = new Map([
  ['complex', fillComplex],
  ['Map', fillMap],
  ['Set', fillSet],
  ['set', fillSet],
  ['frozenset', fillSet],
  ['tuple', ({ value }: Fields) => (Array.isArray(value) ? new ArrayFilling(value) : undefined)],
  ['Object', ({ value }: Fields) => (isFields(value) ? new FieldsFilling(value) : undefined)],
  ['Error', fillError],
])

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isHole = (value: unknown): boolean =>
  isFields(value) && Object.hasOwn(value, '$type') && value['$type'] === 'hole'

function setField(live: object, key: string, value: unknown): void {
  // Assigning would run a setter (`__proto__`), and fails where the host has frozen Object.prototype.
  if (key in live)
    Object.defineProperty(live, key, { value, writable: true, enumerable: true, configurable: true })
  else (live as Record<string, unknown>)[key] = value
}

function fillComplex({ real, imag }: Fields): Filling {
  const live: Record<string, unknown> = {}
  return {
    live,
    count: 2,
    read: (index) => (index === 0 ? real : imag),
    put: (index, member) => (live[index === 0 ? 'real' : 'imag'] = member),
  }
}

function fillMap({ value }: Fields): Filling | undefined {
  if (!Array.isArray(value) || !value.every(isPair)) return undefined
  const pairs = value as readonly (readonly [unknown, unknown])[]
  const live = new Map<unknown, unknown>()
  let key: unknown
  return {
    live,
    count: 2 * pairs.length,
    read: (index) => pairs[index >>> 1]?.[index & 1],
    put: (index, member) => {
      if ((index & 1) === 0) key = member
      else live.set(key, member)
    },
  }
}

const isPair = (entry: unknown): boolean => Array.isArray(entry) && entry.length === 2

function fillSet({ value }: Fields): Filling | undefined {
  if (!Array.isArray(value)) return undefined
  const live = new Set<unknown>()
  return {
    live,
    count: value.length,
    read: (index) => value[index] as unknown,
    put: (_, member) => live.add(member),
  }
}

const errorConstructors: ReadonlyMap<string, (message: string) => Error> = new Map(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Kind) => [
    Kind.name,
    (message) => new Kind(message),
  ]),
)

function createError(name: string, message: string): Error {
  if (name === 'AggregateError') return new AggregateError([], message)
  return errorConstructors.get(name)?.(message) ?? new Error(message)
}

function fillError(node: Fields): Filling | undefined {
  const { name, message, stack, properties } = node
  if (typeof name !== 'string' || typeof message !== 'string') return undefined
  const live = createError(name, message)
  if (live.name !== name) defineHidden(live, 'name', name)
  defineHidden(live, 'stack', typeof stack === 'string' ? stack : `${name}: ${message}`)
  const hidden = [
    ...(Object.hasOwn(node, 'cause') ? ['cause'] : []),
    ...(Array.isArray(node['errors']) ? ['errors'] : []),
  ]
  const own = isFields(properties) ? keysOf(properties) : []
  const hiddenKey = (index: number) => hidden[index]
  const ownKey = (index: number) => own[index - hidden.length] as string
  return {
    live,
    count: hidden.length + own.length,
    read: (index) => {
      const key = hiddenKey(index)
      return key === undefined ? (properties as Fields)[ownKey(index)] : node[key]
    },
    put: (index, member) => {
      const key = hiddenKey(index)
      if (key === undefined) setField(live, ownKey(index), member)
      else defineHidden(live, key, member)
    },
  }
}

function defineHidden(live: object, key: string, value: unknown): void {
  Object.defineProperty(live, key, { value, writable: true, enumerable: false, configurable: true })
}
