/**
 * A value as plain JSON, for protocols without tags. It is made from the tagged encoding, which a guest can forge: the
 * work is bounded, and parts that do not fit become a text that explains it.
 */
import { processorMs } from '../../core/clock.ts'
import { decodeLeaf, malformed } from '../../core/values/decode-leaf.ts'
import { depthMax } from '../../core/values/value-depth.ts'
import { keysOf } from '../../core/known-keys.ts'
import { findRefTarget } from '../../core/values/value-refs.ts'

type Fields = Readonly<Record<string, unknown>>

/** The most values and characters in the result: shared objects are written out each time. */
const valuesMax = 2_000_000
const charactersMax = 32 * 1024 * 1024
/**
 * Processor time, which blocks the event loop: values with much sharing take longer to write out than their length
 * suggests. It is not wall-clock time, because on a busy machine a short value would sometimes be too large.
 */
const processorMsMax = 30
/** The clock is read once per this many values. */
const valuesALook = 256

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
  #count = 0
  readonly #endsAt = processorMs() + processorMsMax

  constructor(root: unknown) {
    this.#root = root
  }

  convert(node: unknown, depth: number): unknown {
    if (!this.#hasRoom()) return '[too large]'
    if (typeof node === 'string') return this.#text(node)
    if (typeof node !== 'object' || node === null) return node
    if (depth > depthMax) return '[nested too deeply]'
    if (this.#ancestors.has(node)) return '[Circular]'
    this.#ancestors.add(node)
    const plain = Array.isArray(node) ? this.#list(node, depth) : this.#object(node as Fields, depth)
    this.#ancestors.delete(node)
    return plain
  }

  #hasRoom(): boolean {
    this.#valuesLeft--
    if (++this.#count % valuesALook === 0 && processorMs() > this.#endsAt) this.#valuesLeft = -1
    return this.#valuesLeft >= 0
  }

  #text(text: string): string {
    this.#charactersLeft -= text.length
    return this.#charactersLeft < 0 ? '[too large]' : text
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    const plain: unknown[] = []
    for (const item of items) {
      plain.push(this.convert(item, depth + 1) ?? null)
      // The last item says that the rest is missing.
      if (this.#valuesLeft < 0) break
    }
    return plain
  }

  #object(fields: Fields, depth: number): unknown {
    const tag = Object.hasOwn(fields, '$type') ? fields['$type'] : undefined
    return typeof tag === 'string' ? this.#tagged(tag, fields, depth) : this.#fields(fields, depth)
  }

  #fields(fields: Fields, depth: number): Fields {
    const plain: Record<string, unknown> = {}
    const keys = keysOf(fields)
    // Listing the keys takes time before any value is converted, even for an object that was written out before.
    this.#valuesLeft -= Math.floor(keys.length / 2)
    for (const key of keys) {
      const value = this.convert(fields[key], depth + 1)
      if (value === undefined) continue
      this.#charactersLeft -= key.length
      // An assignment to `__proto__` would set the prototype.
      if (key === '__proto__') Object.defineProperty(plain, key, { value, ...ordinary })
      else plain[key] = value
      if (this.#valuesLeft < 0) break
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
        return this.#pattern(fields, depth)
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

  #pattern(fields: Fields, depth: number): unknown {
    const { source, flags } = fields
    // Converting anything else to text would run code that the guest can influence, once for each Ref to it.
    if (typeof source !== 'string' || typeof flags !== 'string') return this.#fields(fields, depth)
    return this.#text(`/${source}/${flags}`)
  }

  #shared(path: unknown, depth: number): unknown {
    // Following the path is work, too.
    if (Array.isArray(path)) this.#valuesLeft -= path.length
    const target = findRefTarget(this.#root, path)
    return target === undefined ? null : this.convert(target, depth)
  }

  /** `undefined` for values without bytes. */
  #binary(tag: string, fields: Fields): unknown {
    const { value } = fields
    if (typeof value !== 'string') return undefined
    this.#valuesLeft -= 6 * value.length
    if (this.#valuesLeft < 0) return '[too large]'
    const live = decodeLeaf(tag, fields, true)
    if (live === malformed) return undefined
    if (live instanceof ArrayBuffer) return listNumbers(new Uint8Array(live))
    if (live instanceof DataView) return listNumbers(new Uint8Array(live.buffer))
    return ArrayBuffer.isView(live) ? listNumbers(live as unknown as ArrayLike<number | bigint>) : undefined
  }
}

/** A plain loop, because iterators take ten times as long for a million elements. */
function listNumbers(elements: ArrayLike<number | bigint>): unknown[] {
  const plain: unknown[] = []
  for (let index = 0; index < elements.length; index++) plain.push(plainNumber(elements[index] ?? 0))
  return plain
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
