/**
 * Bounds on a value that a guest claims. The harness observes them; a guest that writes to the channel itself may not.
 */
import { depthMax } from '../../core/values/value-depth.ts'

/** A tag takes up to four levels of JSON for one of values: a Map is an object, a list, a pair, a value. */
export const levelsMax = 4 * (depthMax + 1)

/** Whether the value is small and flat enough for everything that the host does with it. */
export function fitsResult(
  value: unknown,
  { frameBytes, maxBytes }: { frameBytes: number; maxBytes: number },
): boolean {
  // A level takes at least two bytes, so a text as short as this is neither too long nor too deep.
  if (frameBytes <= Math.min(maxBytes, 2 * levelsMax)) return true
  if (!isFlat(value)) return false
  // The frame also holds the value as text; only the value counts.
  return frameBytes <= maxBytes || Buffer.byteLength(JSON.stringify(value) ?? '') <= maxBytes
}

/**
 * Level by level, because a recursion whose depth the guest chooses would overflow the stack; so would JSON.stringify.
 */
function isFlat(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; depth <= levelsMax; depth++) {
    const next: unknown[] = []
    for (const node of level) addContainers(node, next)
    if (next.length === 0) return true
    level = next
  }
  return false
}

/** Most of millions of members are not containers, so only containers are kept. */
function addContainers(node: unknown, found: unknown[]): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const child of node as unknown[]) if (typeof child === 'object' && child !== null) found.push(child)
    return
  }
  // Parsed from JSON: every key is its own, and a list of the values of a large object is slow to make.
  for (const key in node) {
    const child = (node as Record<string, unknown>)[key]
    if (typeof child === 'object' && child !== null) found.push(child)
  }
}
