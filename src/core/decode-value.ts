/** The reading half of `values.ts`: walks an encoded document and makes its live value. */
import { type Fields, decodeLeaf, malformed } from './decode-leaf.ts'
import { type Pace, TooSlow } from './decode-pace.ts'
import { type Decoding, decodeArray, decodeFields, decoders } from './decode-tags.ts'
import { Unserializable } from './encode-leaf.ts'
import { depthMax } from './encode-value.ts'
import { findRefTarget, findRefTargets } from './value-refs.ts'

export interface Decoded {
  readonly value: unknown
  /** Whether something was left out: a part for its depth, or the whole value because it takes too long to make. */
  readonly truncated: boolean
}

/** Never throws. Without a pace the document is trusted not to cost more than its size is worth. */
export function decodeTagged(tagged: unknown, pace?: Pace): Decoded {
  const { stackTraceLimit } = Error
  // A million errors would otherwise each capture a stack of ours.
  Error.stackTraceLimit = 0
  try {
    const decoding = new DocumentDecoding(tagged, pace)
    const value = decoding.decode(tagged)
    return { value, truncated: decoding.isCut }
  } catch (thrown) {
    if (!(thrown instanceof TooSlow)) throw thrown
    return { value: new Unserializable('[takes too long to decode]'), truncated: true }
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

class DocumentDecoding implements Decoding {
  readonly pace: Pace | undefined
  isCut = false
  readonly #root: unknown
  /** The nodes that some Ref names, with their live values as far as they exist. */
  readonly #targets: Map<unknown, unknown>
  #depth = -1

  constructor(root: unknown, pace: Pace | undefined) {
    this.pace = pace
    this.#root = root
    this.#targets = findRefTargets(root)
  }

  decode(node: unknown): unknown {
    if (typeof node !== 'object' || node === null) return node
    this.#depth++
    const live = Array.isArray(node) ? this.#decodeArray(node) : this.#decodeObject(node as Fields)
    this.#depth--
    return live
  }

  open<Live>(node: object, live: Live): Live {
    if (this.#targets.has(node)) this.#targets.set(node, live)
    return live
  }

  #decodeArray(node: readonly unknown[]): unknown {
    return this.#depth > depthMax ? this.#cut() : decodeArray(node, node, this)
  }

  #decodeObject(fields: Fields): unknown {
    const tag = Object.hasOwn(fields, '$type') ? fields['$type'] : undefined
    if (typeof tag === 'string') {
      if (tag === 'Ref') {
        const target = this.#targets.get(findRefTarget(this.#root, fields['path']))
        if (target !== undefined) return this.open(fields, target)
      }
      const leaf = decodeLeaf(tag, fields, this.pace)
      if (leaf !== malformed) return this.open(fields, leaf)
      const container = this.#depth > depthMax ? undefined : decoders.get(tag)
      const live = container === undefined ? malformed : container(fields, this)
      if (live !== malformed) return live
    }
    return this.#depth > depthMax ? this.#cut() : decodeFields(fields, fields, this)
  }

  #cut(): Unserializable {
    this.isCut = true
    return new Unserializable('[nested too deeply]')
  }
}
