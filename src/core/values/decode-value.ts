/** The reading half of `values.ts`: walks an encoded document and makes its live value. */
import { type Fields, decodeLeaf, malformed } from './decode-leaf.ts'
import { ArrayFilling, type Filling, FieldsFilling, fillings } from './decode-tags.ts'
import { Unserializable } from './encode-leaf.ts'
import { depthMax } from './value-depth.ts'
import type { Steps } from '../steps.ts'
import { findRefTarget, RefTargets } from './value-refs.ts'

export interface Decoded {
  readonly value: unknown
  /** Whether a part was left out because it was nested too deeply. */
  readonly truncated: boolean
}

/** Never throws. The document is trusted not to take longer than its size suggests. */
export function decodeTagged(tagged: unknown): Decoded {
  const decoding = new DocumentDecoding(tagged, { isTrusted: true, mayHaveRefs: true })
  while (!decoding.advance(stepsAtOnce));
  return decoding.decoded
}

/** This many steps take some microseconds, or, in a collection whose hashes collide, some milliseconds. */
const stepsAtOnce = 64

/** Never throws. The document is not trusted: the caller runs the steps, and decides how long they may take. */
export function* decodeSteps(
  tagged: unknown,
  { mayHaveRefs = true }: { readonly mayHaveRefs?: boolean } = {},
): Steps<Decoded> {
  // Most results are primitives, for which this is cheaper than the general case.
  if (typeof tagged !== 'object' || tagged === null) return { value: tagged, truncated: false }
  const decoding = new DocumentDecoding(tagged, { isTrusted: false, mayHaveRefs })
  while (!decoding.advance(stepsAtOnce)) yield
  return decoding.decoded
}

interface DecodingOptions {
  readonly isTrusted: boolean
  /** If false, the search for references is left out. */
  readonly mayHaveRefs: boolean
}

/** A filling whose members up to `next` are in place. */
interface Frame {
  readonly filling: Filling
  readonly depth: number
  next: number
}

/** Nothing here recurses over the document, so that it can stop anywhere. */
class DocumentDecoding {
  readonly #root: unknown
  readonly #isTrusted: boolean
  readonly #refs: RefTargets
  /** The nodes that a Ref points to, each with its live value once it exists. */
  readonly #targets: Map<unknown, unknown>
  readonly #open: Frame[] = []
  #hasTargets = false
  #hasBegun = false
  #isCut = false
  #value: unknown

  constructor(root: unknown, { isTrusted, mayHaveRefs }: DecodingOptions) {
    this.#root = root
    this.#isTrusted = isTrusted
    this.#refs = new RefTargets(root)
    this.#hasTargets = !mayHaveRefs
    this.#targets = this.#refs.found
  }

  get decoded(): Decoded {
    return { value: this.#value, truncated: this.#isCut }
  }

  /** Returns whether it is done. */
  advance(steps: number): boolean {
    if (!this.#hasTargets) {
      this.#hasTargets = this.#refs.advance(steps)
      if (!this.#hasTargets) return false
    }
    const { stackTraceLimit } = Error
    // A million errors would otherwise each capture our stack.
    Error.stackTraceLimit = 0
    try {
      if (!this.#hasBegun) this.#value = this.#begin(this.#root, 0)
      this.#hasBegun = true
      return this.#fill(steps)
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }

  #fill(steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const frame = this.#open.at(-1)
      if (frame === undefined) return true
      const { filling, depth } = frame
      if (frame.next === filling.count) this.#open.pop()
      else {
        const index = frame.next++
        filling.put(index, this.#begin(filling.read(index), depth + 1))
      }
    }
    return this.#open.length === 0
  }

  /** Creates the live value of a node. Its members are added later. */
  #begin(node: unknown, depth: number): unknown {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node))
      return depth > depthMax ? this.#cut() : this.#push(node, depth, new ArrayFilling(node))
    const fields = node as Fields
    const tag = Object.hasOwn(fields, '$type') ? fields['$type'] : undefined
    const live = typeof tag === 'string' ? this.#beginTagged(tag, fields, depth) : malformed
    if (live !== malformed) return live
    return depth > depthMax ? this.#cut() : this.#push(fields, depth, new FieldsFilling(fields))
  }

  #beginTagged(tag: string, fields: Fields, depth: number): unknown {
    if (tag === 'Ref') {
      const target = this.#targets.get(findRefTarget(this.#root, fields['path']))
      if (target !== undefined) return this.#note(fields, target)
    }
    const leaf = decodeLeaf(tag, fields, this.#isTrusted)
    if (leaf !== malformed) return this.#note(fields, leaf)
    if (depth > depthMax) return malformed
    // A number, or the tag of a number that JSON cannot express.
    const { value } = fields
    if (tag === 'timedelta' && (typeof value === 'number' || typeof value === 'object'))
      return this.#begin(value, depth + 1)
    const filling = fillings.get(tag)?.(fields)
    return filling === undefined ? malformed : this.#push(fields, depth, filling)
  }

  #push(node: object, depth: number, filling: Filling): unknown {
    if (filling.count > 0) this.#open.push({ filling, depth, next: 0 })
    return this.#note(node, filling.live)
  }

  /** Notes the live value of a node before its members are read, so that a Ref among them can point to it. */
  #note(node: object, live: unknown): unknown {
    if (this.#targets.size > 0 && this.#targets.has(node)) this.#targets.set(node, live)
    return live
  }

  #cut(): Unserializable {
    this.#isCut = true
    return new Unserializable('[nested too deeply]')
  }
}
