/**
 * Finds the nodes that `Ref` tags point to in an encoded document. Reads own properties only; nothing here recurses.
 */
import { keysOf } from '../known-keys.ts'

type Node = Readonly<Record<string | number, unknown>>

interface Members {
  readonly node: Node
  /** `null` for those of an array. */
  readonly keys: readonly string[] | null
  next: number
}

/** The arrays and objects that a Ref points to. The search runs in parts. */
export class RefTargets {
  /** As the keys of a map without values yet. */
  readonly found = new Map<unknown, unknown>()
  readonly #root: unknown
  readonly #waiting: object[] = []
  /** The container being searched, and how far. */
  #members: Members | undefined

  constructor(root: unknown) {
    this.#root = root
    if (isContainer(root)) this.#waiting.push(root)
  }

  /** Returns whether all are found. */
  advance(steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      if (this.#members === undefined) {
        const node = this.#waiting.pop()
        if (node === undefined) return true
        this.#open(node)
      } else this.#lookAt(this.#members)
    }
    return false
  }

  #open(node: object): void {
    const fields = node as Node
    if (Object.hasOwn(fields, '$type') && fields['$type'] === 'Ref') {
      const target = findRefTarget(this.#root, fields['path'])
      if (target !== undefined) this.found.set(target, undefined)
    }
    this.#members = { node: fields, keys: Array.isArray(node) ? null : keysOf(node), next: 0 }
  }

  #lookAt(members: Members): void {
    const { node, keys, next } = members
    if (next === (keys ?? (node as unknown as readonly unknown[])).length) {
      this.#members = undefined
      return
    }
    members.next++
    const child = node[keys === null ? next : (keys[next] as string)]
    if (isContainer(child)) this.#waiting.push(child)
  }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/**
 * The array or object at `path`, or `undefined`. The input decides how long a path is; each path is walked once per
 * Ref.
 */
export function findRefTarget(root: unknown, path: unknown): object | undefined {
  if (!Array.isArray(path)) return undefined
  let node = root
  for (const step of path as unknown[]) {
    const isStep = Array.isArray(node) ? typeof step === 'number' : typeof step === 'string'
    if (!isStep || typeof node !== 'object' || node === null) return undefined
    if (!Object.hasOwn(node, step as string | number)) return undefined
    node = (node as Node)[step as string | number]
  }
  return typeof node === 'object' && node !== null ? node : undefined
}
