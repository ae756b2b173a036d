/** Compares two values in everything that is transferred: types, order, holes, signs and object identity. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { Unserializable } from '../../src/core/values/encode-leaf.ts'

/** Fails with the path of the first difference. */
export function assertSame(actual: unknown, expected: unknown): void {
  const difference = findDifference(actual, expected)
  if (difference !== undefined) assert.fail(difference)
}

export function findDifference(actual: unknown, expected: unknown): string | undefined {
  return new Comparison().compare(actual, expected, 'value')
}

type Step = readonly [name: string, actual: unknown, expected: unknown]

class Comparison {
  /**
   * The corresponding objects of both sides, in both directions, so that no two objects become one, and none becomes
   * two.
   */
  readonly #pairs = new Map<object, object>()
  readonly #reverse = new Map<object, object>()

  compare(actual: unknown, expected: unknown, path: string): string | undefined {
    const differs = () => `${path}: ${show(actual)} instead of ${show(expected)}`
    if (!isObject(actual) || !isObject(expected)) return Object.is(actual, expected) ? undefined : differs()
    const isKnown = this.#pairs.has(actual) || this.#reverse.has(expected)
    if (isKnown) {
      const isSame = this.#pairs.get(actual) === expected && this.#reverse.get(expected) === actual
      return isSame ? undefined : `${path}: not the object that it was`
    }
    this.#pairs.set(actual, expected)
    this.#reverse.set(expected, actual)
    if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return `${differs()} (class)`
    const [some, others] = [partsOf(actual), partsOf(expected)]
    if (some.length !== others.length || some.some(([name], index) => name !== others[index]?.[0]))
      return `${path}: ${names(some)} instead of ${names(others)}`
    const steps = some.map(([name, value], index): Step => [name, value, others[index]?.[1]])
    for (const [name, one, other] of steps) {
      const difference = this.compare(one, other, `${path}.${name}`)
      if (difference !== undefined) return difference
    }
    return undefined
  }
}

type Part = readonly [name: string, value: unknown]

/** All parts of an object, in their order. */
function partsOf(value: object): readonly Part[] {
  if (value instanceof Date) return [['time', value.getTime()]]
  if (value instanceof RegExp)
    return [
      ['source', value.source],
      ['flags', value.flags],
    ]
  if (value instanceof Unserializable) return [['text', value.text]]
  if (value instanceof Map)
    return [...value].flatMap(([key, item], index): Part[] => [
      [`key ${index}`, key],
      [`item ${index}`, item],
    ])
  if (value instanceof Set) return [...value].map((item, index): Part => [`member ${index}`, item])
  if (value instanceof ArrayBuffer) return [['bytes', [...new Uint8Array(value)].join()]]
  if (value instanceof DataView || value instanceof Uint8Array)
    return [['bytes', [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)].join()]]
  if (ArrayBuffer.isView(value))
    return [...(value as unknown as Iterable<unknown>)].map((item, index): Part => [`element ${index}`, item])
  return value instanceof Error ? errorParts(value) : fieldParts(value)
}

function errorParts(value: Error): readonly Part[] {
  const hidden = ['cause', 'errors'].filter((key) => Object.hasOwn(value, key))
  const names = ['name', 'message', 'stack', ...hidden]
  return [...names.map((key): Part => [key, Reflect.get(value, key)]), ...fieldParts(value)]
}

function fieldParts(value: object): readonly Part[] {
  const length: readonly Part[] = Array.isArray(value) ? [['length', value.length]] : []
  return [...length, ...Object.keys(value).map((key): Part => [key, Reflect.get(value, key)])]
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const show = (value: unknown): string => inspect(value, { depth: 1 }).slice(0, 300)
const names = (parts: readonly Part[]): string => inspect(parts.map(([name]) => name)).slice(0, 300)
