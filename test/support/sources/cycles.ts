/** Finds import cycles. */
export type Graph = ReadonlyMap<string, readonly string[]>

/** The first cycle, as `a → b → a`, or undefined. */
export function findCycle(graph: Graph): string | undefined {
  const clear = new Set<string>()
  const cycleFrom = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (clear.has(node)) return undefined
    for (const target of graph.get(node) ?? []) {
      const cycle = cycleFrom(target, [...path, node])
      if (cycle !== undefined) return cycle
    }
    clear.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = cycleFrom(node, [])
    if (cycle !== undefined) return cycle.join(' → ')
  }
  return undefined
}
