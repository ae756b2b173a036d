/** `URLSearchParams`: a list of pairs, which may belong to a `URL`. */
import { getOwnPropertyDescriptor, uncurryThis } from '../../../../core/primordials.ts'
import { askPairs, askQuery, requireArguments, textOf } from './url-questions.ts'
import type { Pair } from './url-questions.ts'

/** The data of a `URLSearchParams`. `onChange` updates the URL to which it belongs. */
export interface Query {
  pairs: Pair[]
  onChange?: () => void
}

const NativeTypeError = TypeError
const { apply, ownKeys } = Reflect
const IndexMap = Map<string, number>
const indexGet = uncurryThis(IndexMap.prototype.get)
const indexSet = uncurryThis(IndexMap.prototype.set)
/** The data for the next object: `paramsOf` passes it to the constructor, whose parameters belong to the program. */
let ready: Query | undefined

export class URLSearchParams {
  readonly #query: Query

  constructor(init: unknown = '') {
    this.#query = ready ?? { pairs: readInit(init) }
    ready = undefined
  }

  get size(): number {
    return this.#query.pairs.length
  }

  append(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2)
    const { pairs } = this.#query
    pairs[pairs.length] = [textOf(name), textOf(value)]
    this.#query.onChange?.()
  }

  delete(name: unknown, value?: unknown): void {
    requireArguments(arguments.length, 1)
    this.#keep((pair) => !fits(pair, name, value))
    this.#query.onChange?.()
  }

  get(name: unknown): string | null {
    requireArguments(arguments.length, 1)
    const { pairs } = this.#query
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair
      if (fits(pair, name)) return pair[1]
    }
    return null
  }

  getAll(name: unknown): string[] {
    requireArguments(arguments.length, 1)
    const values: string[] = []
    const { pairs } = this.#query
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair
      if (fits(pair, name)) values[values.length] = pair[1]
    }
    return values
  }

  has(name: unknown, value?: unknown): boolean {
    requireArguments(arguments.length, 1)
    const { pairs } = this.#query
    for (let index = 0; index < pairs.length; index++)
      if (fits(pairs[index] as Pair, name, value)) return true
    return false
  }

  set(name: unknown, value: unknown): void {
    requireArguments(arguments.length, 2)
    let isSet = false
    this.#keep((pair) => {
      if (!fits(pair, name)) return true
      if (isSet) return false
      pair[1] = textOf(value)
      isSet = true
      return true
    })
    if (isSet) this.#query.onChange?.()
    else this.append(name, value)
  }

  /** Sorts by name, in the order of code units. Pairs with the same name keep their order. */
  sort(): void {
    this.#query.pairs = mergeSort(this.#query.pairs)
    this.#query.onChange?.()
  }

  forEach(callback: (value: string, name: string, all: unknown) => void, self?: unknown): void {
    if (typeof callback !== 'function') throw new NativeTypeError('forEach() takes a function')
    for (let index = 0; index < this.#query.pairs.length; index++) {
      const pair = this.#query.pairs[index] as Pair
      apply(callback, self, [pair[1], pair[0], this])
    }
  }

  *entries(): Generator<Pair> {
    for (let index = 0; index < this.#query.pairs.length; index++) {
      const pair = this.#query.pairs[index] as Pair
      yield [pair[0], pair[1]]
    }
  }

  *keys(): Generator<string> {
    for (let index = 0; index < this.#query.pairs.length; index++) yield (this.#query.pairs[index] as Pair)[0]
  }

  *values(): Generator<string> {
    for (let index = 0; index < this.#query.pairs.length; index++) yield (this.#query.pairs[index] as Pair)[1]
  }

  toString(): string {
    return askQuery(this.#query.pairs)
  }

  #keep(isKept: (pair: Pair) => boolean): void {
    const { pairs } = this.#query
    const kept: Pair[] = []
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index] as Pair
      if (isKept(pair)) kept[kept.length] = pair
    }
    this.#query.pairs = kept
  }
}

/** Creates the `searchParams` of a URL, which shares the data. */
export function paramsOf(query: Query): URLSearchParams {
  ready = query
  return new URLSearchParams()
}

/** Reads a string, an iterable of pairs, or an object with a value for each name. */
function readInit(init: unknown): Pair[] {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null) return askPairs(textOf(init))
  const pairs: Pair[] = []
  if (typeof (init as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function') {
    for (const one of init as Iterable<unknown>) {
      const isObject = (typeof one === 'object' && one !== null) || typeof one === 'function'
      const pair = isObject ? [...(one as Iterable<unknown>)] : []
      if (pair.length !== 2)
        throw new NativeTypeError('Each query pair must be an iterable [name, value] tuple')
      pairs[pairs.length] = [textOf(pair[0]), textOf(pair[1])]
    }
    return pairs
  }
  // Two names with lone surrogates may become the same text. Then the last value counts, at the position of the first.
  const places = new IndexMap()
  const names = ownKeys(init)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (getOwnPropertyDescriptor(init, name)?.enumerable !== true) continue
    const text = textOf(name)
    const place = indexGet(places, text) ?? pairs.length
    pairs[place] = [text, textOf((init as Record<string, unknown>)[name])]
    indexSet(places, text, place)
  }
  return pairs
}

function fits(pair: Pair, name: unknown, value?: unknown): boolean {
  return pair[0] === textOf(name) && (value === undefined || pair[1] === textOf(value))
}

/** A stable sort that uses no method that the program may have patched. */
function mergeSort(pairs: Pair[]): Pair[] {
  const { length } = pairs
  let from = pairs
  for (let width = 1; width < length; width *= 2) {
    const to: Pair[] = []
    for (let start = 0; start < length; start += 2 * width) {
      let left = start
      let right = start + width
      const middle = right < length ? right : length
      const end = start + 2 * width < length ? start + 2 * width : length
      while (left < middle || right < end) {
        const isLeft = right >= end || (left < middle && (from[left] as Pair)[0] <= (from[right] as Pair)[0])
        to[to.length] = (isLeft ? from[left++] : from[right++]) as Pair
      }
    }
    from = to
  }
  return from
}
