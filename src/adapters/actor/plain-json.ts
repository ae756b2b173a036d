/**
 * A value as plain JSON, for doors that promise that and no tags. Made from the tagged encoding, which is a guest's to
 * claim: the work is bounded, and what does not fit is a text that says so.
 */
import { decodeLeaf, malformed } from '../../core/decode-leaf.ts'
import { depthMax } from '../../core/encode-value.ts'
import { findRefTarget } from '../../core/value-refs.ts'

type Fields = Readonly<Record<string, unknown>>

/** So many values, and so many characters of text, in what it becomes: shared objects are written out each time. */
const valuesMax = 2_000_000
const charactersMax = 32 * 1024 * 1024

/** Functions and symbols, as the encoder describes them. */
const leftOutText = /^(?:\[Function\b|Symbol\()/

/** `undefined` for what JSON leaves out. */
export function toPlainJson(tagged: unknown): unknown {
  return new PlainJson(tagged).convert(tagged, 0)
}

class PlainJson {
  readonly #root: unknown
  readonly #ancestors = new Set<object>()
  #valuesLeft = valuesMax
  #charactersLeft = charactersMax

  constructor(root: unknown) {
    this.#root = root
  }

  convert(node: unknown, depth: number): unknown {
    if (--this.#valuesLeft < 0) return '[too large]'
    if (typeof node === 'string') return this.#text(node)
    if (typeof node !== 'object' || node === null) return node
    if (depth > depthMax) return '[nested too deeply]'
    if (this.#ancestors.has(node)) return '[Circular]'
    this.#ancestors.add(node)
    const plain = Array.isArray(node) ? this.#list(node, depth) : this.#object(node as Fields, depth)
    this.#ancestors.delete(node)
    return plain
  }

  #text(text: string): string {
    this.#charactersLeft -= text.length
    return this.#charactersLeft < 0 ? '[too large]' : text
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    return items.map((item) => this.convert(item, depth + 1) ?? null)
  }

  #object(fields: Fields, depth: number): unknown {
    const tag = Object.hasOwn(fields, '$type') ? fields['$type'] : undefined
    return typeof tag === 'string' ? this.#tagged(tag, fields, depth) : this.#fields(fields, depth)
  }

  #fields(fields: Fields, depth: number): Fields {
    const plain: Record<string, unknown> = {}
    for (const key of Object.keys(fields)) {
      const value = this.convert(fields[key], depth + 1)
      if (value === undefined) continue
      this.#charactersLeft -= key.length
      // An assignment to `__proto__` would do something else.
      if (key === '__proto__') Object.defineProperty(plain, key, { value, ...ordinary })
      else plain[key] = value
    }
    return plain
  }

  #tagged(tag: string, fields: Fields, depth: number): unknown {
    const { value, text } = fields
    switch (tag) {
      case 'undefined':
      case 'hole':
        return undefined
      case 'NaN':
      case 'Infinity':
      case '-Infinity':
        return null
      case '-0':
        return 0
      case 'BigInt':
        return typeof value === 'string' ? this.#text(value) : null
      case 'Date':
        return typeof value === 'string' ? this.#text(value) : null
      case 'RegExp':
        return this.#text(`/${String(fields['source'])}/${String(fields['flags'])}`)
      case 'Error':
        return this.#text(errorText(fields))
      case 'Map':
      case 'Set':
        return Array.isArray(value) ? this.#list(value, depth) : this.#fields(fields, depth)
      case 'Object':
        return typeof value === 'object' && value !== null ? this.#fields(value as Fields, depth) : value
      case 'Ref':
        return this.#shared(fields['path'], depth)
      case 'Unserializable':
        return typeof text === 'string' && !leftOutText.test(text) ? this.#text(text) : undefined
      default:
        return this.#binary(tag, fields) ?? this.#fields(fields, depth)
    }
  }

  #shared(path: unknown, depth: number): unknown {
    // Walking it is work too.
    if (Array.isArray(path)) this.#valuesLeft -= path.length
    const target = findRefTarget(this.#root, path)
    return target === undefined ? null : this.convert(target, depth)
  }

  /** `undefined` for what holds no bytes. */
  #binary(tag: string, fields: Fields): unknown {
    const { value } = fields
    if (typeof value !== 'string') return undefined
    this.#valuesLeft -= value.length
    if (this.#valuesLeft < 0) return '[too large]'
    const live = decodeLeaf(tag, fields, undefined)
    if (live === malformed) return undefined
    if (live instanceof ArrayBuffer) return [...new Uint8Array(live)]
    if (live instanceof DataView) return [...new Uint8Array(live.buffer)]
    return ArrayBuffer.isView(live)
      ? Array.from(live as unknown as ArrayLike<number | bigint>, plainNumber)
      : undefined
  }
}

const ordinary = { writable: true, enumerable: true, configurable: true }

function plainNumber(value: number | bigint): number | string | null {
  if (typeof value === 'bigint') return value.toString()
  return Number.isFinite(value) ? value : null
}

function errorText({ name, message }: Fields): string {
  const kind = typeof name === 'string' ? name : 'Error'
  return typeof message === 'string' && message !== '' ? `${kind}: ${message}` : kind
}
