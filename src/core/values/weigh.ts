/** About how many bytes plain data take in memory. */
import { keysOf } from '../known-keys.ts'
import type { Steps } from '../steps.ts'
import { plainOf } from './json-steps.ts'

/** A number, a key or a pointer, with its share of the object that has it. */
const memberBytes = 16
const membersAtOnce = 256

interface Open {
  readonly node: object
  /** `null` for a list. */
  readonly keys: readonly string[] | null
  next: number
}

/** The data are a tree: no object in them is part of itself. Texts count one byte for each UTF-16 unit. */
export function* weigh(data: unknown): Steps<number> {
  const open: Open[] = [{ node: [data], keys: null, next: 0 }]
  let bytes = 0
  for (let count = 1, top = open.at(-1); top !== undefined; count++, top = open.at(-1)) {
    if (count % membersAtOnce === 0) yield
    const { node, keys } = top
    if (top.next === (keys ?? (node as readonly unknown[])).length) {
      open.pop()
      continue
    }
    const value = plainOf(Reflect.get(node, keys?.[top.next] ?? top.next))
    top.next++
    bytes += memberBytes
    if (typeof value === 'string') bytes += value.length
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength
    else if (typeof value === 'object' && value !== null) open.push(openOf(value))
  }
  return bytes
}

function openOf(node: object): Open {
  return { node, keys: Array.isArray(node) ? null : keysOf(node), next: 0 }
}
