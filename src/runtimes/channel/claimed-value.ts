/**
 * Checks the bounds of a value that a guest sends. The harness respects them, but guest code that writes to the channel
 * itself may not.
 */
import { depthMax } from '../../core/values/value-depth.ts'

/** A tagged value takes up to four levels of JSON: a Map is an object that holds a list of pairs of values. */
export const levelsMax = 4 * (depthMax + 1)

/** Whether the value is small and flat enough to be processed by the host. */
export function fitsResult(
  value: unknown,
  { frameBytes, maxBytes }: { frameBytes: number; maxBytes: number },
): boolean {
  // A level takes at least two bytes, so such a short text cannot be too deep.
  if (frameBytes <= Math.min(maxBytes, 2 * levelsMax)) return true
  if (!isFlat(value)) return false
  // The frame also contains the value as text, but only the value counts.
  return frameBytes <= maxBytes || Buffer.byteLength(JSON.stringify(value) ?? '') <= maxBytes
}

/**
 * Works level by level. The guest chooses the depth, so a recursion could overflow the stack, and so could JSON.stringify.
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

/** Collects only containers, because a list may have millions of other members. */
function addContainers(node: unknown, found: unknown[]): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const child of node as unknown[]) if (typeof child === 'object' && child !== null) found.push(child)
    return
  }
  // The object comes from JSON, so all its keys are its own. `Object.values` of a large object would be slow.
  for (const key in node) {
    const child = (node as Record<string, unknown>)[key]
    if (typeof child === 'object' && child !== null) found.push(child)
  }
}
