/** Finds the nodes that `Ref` tags name in an encoded document. Reads own properties only; nothing here recurses. */
type Node = Readonly<Record<string | number, unknown>>

/** The arrays and objects that some Ref below `root` names, as the keys of a map without values yet. */
export function findRefTargets(root: unknown): Map<unknown, unknown> {
  const targets = new Map<unknown, unknown>()
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null) continue
    const fields = node as Node
    if (Object.hasOwn(fields, '$type') && fields['$type'] === 'Ref') {
      const target = findRefTarget(root, fields['path'])
      if (target !== undefined) targets.set(target, undefined)
    }
    for (const child of Array.isArray(node) ? (node as unknown[]) : Object.values(node))
      if (typeof child === 'object' && child !== null) waiting.push(child)
  }
  return targets
}

/** The array or object at `path`, or `undefined`. A path is as long as the input made it, and walked once per Ref. */
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
