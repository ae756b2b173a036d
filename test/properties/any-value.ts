/** Values of every kind that is transferred unchanged, for property tests. */
import fc from '../support/fast-check.ts'
import { Unserializable } from '../../src/core/values/encode-leaf.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', '\0', '\ud800', '\udc00\ud800', '😀', '\u2028', '"\\', '$type', '__proto__', 'NaN'),
)
const keyNames = [
  '$type',
  '__proto__',
  'constructor',
  'toString',
  'toJSON',
  'then',
  'length',
  'value',
  'path',
  '0',
  '',
]
const key = fc.oneof(text, fc.constantFrom(...keyNames), fc.nat().map(String))

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noInteger: false, min: 2 ** 52, max: 1e22, noNaN: true }),
  fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map(Number),
  fc.constantFrom(
    -0,
    NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    -(2 ** 53),
    2 ** 53 - 1,
    1e21,
    5e-324,
    Number.MAX_VALUE,
  ),
)
const integer = fc.oneof(
  fc.bigInt(),
  fc.bigInt({ min: -20n, max: 20n }),
  fc.constantFrom(2n ** 53n, 2n ** 53n - 1n, -(2n ** 64n), 10n ** 4000n - 1n, -(10n ** 4000n), 7n ** 6000n),
)
const date = fc.oneof(
  fc.date({ noInvalidDate: false }),
  fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01') }),
  fc
    .constantFrom(NaN, 8.64e15, -8.64e15, 0, -62135596800000, -62135596800001, 253402300800000)
    .map((time) => new Date(time)),
)
const pattern = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('a+', '(?:)', '[é\\/]\\n', '(?<x>a)\\k<x>', '(?<!b)c', '\\bd{2,3}?$', '[(?<e]'),
      fc.subarray(['d', 'g', 'i', 'm', 's', 'u', 'y']),
    )
    .map(([source, flags]) => new RegExp(source, flags.join(''))),
  fc.constantFrom('[\\p{L}--[a-z]]', '\\p{Lu}').map((source) => new RegExp(source, 'v')),
)

type View = new (buffer: ArrayBuffer) => ArrayBufferView

const views: readonly View[] = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView],
]
const bytes = fc.uint8Array({ maxLength: 40 })
const binary = fc.oneof(
  bytes.map(({ buffer }) => buffer),
  fc.tuple(fc.constantFrom(...views), bytes).map(([View, { buffer }]): ArrayBufferView => {
    const size: unknown = Reflect.get(View, 'BYTES_PER_ELEMENT')
    const rest = typeof size === 'number' ? buffer.byteLength % size : 0
    return new View(buffer.slice(0, buffer.byteLength - rest))
  }),
)

const leaf = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 3, arbitrary: number },
  integer,
  fc.boolean(),
  fc.constantFrom(null, undefined),
  date,
  pattern,
  binary,
  text.map((shown) => new Unserializable(shown)),
)

const Kinds = [Error, TypeError, RangeError, SyntaxError, EvalError, ReferenceError, URIError]
const hole = Symbol('hole')

const { value: tree } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    ...['array', 'object', 'map', 'set', 'error', 'aggregate', 'named'].map((name) => tie(name)),
  ),
  array: fc.array(fc.oneof({ weight: 9, arbitrary: tie('value') }, fc.constant(hole))).map(makeArray),
  object: fc.array(fc.tuple(key, tie('value'))).map((entries): object => Object.fromEntries(entries)),
  map: fc.array(fc.tuple(tie('value'), tie('value'))).map((entries): object => new Map(entries)),
  set: fc.array(tie('value')).map((items): object => new Set(items)),
  error: fc
    .tuple(
      fc.constantFrom(...Kinds),
      text,
      fc.option(tie('value'), { nil: hole }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 2 }),
    )
    .map(([Kind, message, cause, fields]) =>
      addFields(cause === hole ? new Kind(message) : new Kind(message, { cause }), fields),
    ),
  aggregate: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), text)
    .map(([errors, message]): object => new AggregateError(errors, message)),
  named: fc
    .tuple(text, text)
    .map(([message, name]): object =>
      Object.defineProperty(new Error(message), 'name', { value: `My${name}` }),
    ),
}))

function makeArray(items: readonly unknown[]): object {
  const made: unknown[] = Array(items.length)
  for (const [index, item] of items.entries()) if (item !== hole) made[index] = item
  return made
}

/** Adds the fields whose names are not those of an error's own properties. */
function addFields(error: Error, fields: readonly (readonly [string, unknown])[]): Error {
  const own = fields.filter(([name]) => !['name', 'message', 'stack', 'cause', 'errors'].includes(name))
  for (const [name, value] of own)
    Object.defineProperty(error, name, { value, enumerable: true, writable: true, configurable: true })
  return error
}

/** A tree in which some objects occur in several places, even inside themselves. */
const graph = fc
  .tuple(tree, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 4 }))
  .map(([root, links]) => {
    const objects = listObjects(root)
    const holders = objects.filter(isHolder)
    for (const [from, to] of holders.length === 0 ? [] : links)
      addMember(holders[from % holders.length] as Holder, objects[to % objects.length])
    return root
  })

/** As deep as values may be: the value itself is on level 1, in the array of its batch. */
const deep = fc
  .tuple(
    fc.integer({ min: 950, max: 998 }),
    fc.array(fc.constantFrom(...wrappers()), { minLength: 1, maxLength: 4 }),
    leaf,
  )
  .map(([levels, kinds, inner]) => {
    let value: unknown = inner
    for (let level = 0; level < levels; level++) value = kinds[level % kinds.length]?.(value)
    return value
  })

function wrappers(): readonly ((value: unknown) => unknown)[] {
  return [
    (value) => [value],
    (value) => ({ a: value }),
    (value) => ({ $type: value }),
    (value) => new Map([['a', value]]),
    (value) => new Map([[value, 1]]),
    (value) => new Set([value]),
    (value) => new Error('e', { cause: value }),
  ]
}

export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 40, arbitrary: graph },
  { weight: 10, arbitrary: leaf },
  { weight: 1, arbitrary: deep },
)

type Holder = unknown[] | Map<unknown, unknown> | Set<unknown> | Record<string, unknown>

function isHolder(value: object): value is Holder {
  const isPlain = Object.getPrototypeOf(value) === Object.prototype
  return Array.isArray(value) || value instanceof Map || value instanceof Set || isPlain
}

function addMember(holder: Holder, member: unknown): void {
  if (Array.isArray(holder)) holder.push(member)
  else if (holder instanceof Map) holder.set(member, holder.size)
  else if (holder instanceof Set) holder.add(member)
  else
    Object.defineProperty(holder, `link ${Object.keys(holder).length}`, { value: member, enumerable: true })
}

function listObjects(root: unknown): readonly object[] {
  const found = new Set<object>()
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null || value instanceof Unserializable || found.has(value))
      continue
    found.add(value)
    if (value instanceof Map) waiting.push(...value.keys(), ...value.values())
    else if (value instanceof Set) waiting.push(...value)
    else if (!ArrayBuffer.isView(value)) waiting.push(...Object.values(value))
  }
  return [...found]
}
