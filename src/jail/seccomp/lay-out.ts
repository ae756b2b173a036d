/** Turns a graph of instructions into a program: each node once, before all nodes that it leads to. */
import { conditionalJumpMax, kindOf, skip } from './instruction.ts'
import type { Instruction } from './instruction.ts'

/** An instruction and what follows it: nothing after an answer, two nodes after a comparison (true, false). */
export interface Node {
  readonly instruction: Instruction
  readonly next: readonly Node[]
}

/** There may still be a skip to each of two places between a comparison and its target. */
const jumpMax = conditionalJumpMax - 2

export function layOut(start: Node): readonly Instruction[] {
  // From the end, because a jump must know how far away its target is.
  const reversed: Instruction[] = []
  const places = new Map<Node, number>()

  const distanceTo = (node: Node) => reversed.length - 1 - (places.get(node) ?? 0)

  function write(node: Node, instruction: Instruction): void {
    reversed.push(instruction)
    places.set(node, reversed.length - 1)
  }

  /** An answer is written again where it is far away, which is as short as a skip to it. */
  function bringNear(node: Node, distanceMax: number): void {
    if (distanceTo(node) <= distanceMax) return
    write(node, kindOf(node.instruction) === 'answer' ? node.instruction : skip(distanceTo(node)))
  }

  for (const node of childrenFirst(start)) {
    const { instruction, next } = node
    const [whenTrue, whenFalse] = next
    for (const one of next) bringNear(one, next.length === 2 ? jumpMax : 0)
    write(
      node,
      whenTrue === undefined || whenFalse === undefined
        ? instruction
        : { ...instruction, ifTrue: distanceTo(whenTrue), ifFalse: distanceTo(whenFalse) },
    )
  }
  return reversed.toReversed()
}

function childrenFirst(start: Node): Iterable<Node> {
  const seen = new Set<Node>()
  const ordered: Node[] = []
  const visit = (node: Node) => {
    if (seen.has(node)) return
    seen.add(node)
    for (const one of node.next) visit(one)
    ordered.push(node)
  }
  visit(start)
  return ordered
}
