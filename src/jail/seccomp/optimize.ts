/**
 * Shortens a program without changing its results. The kernel reads and compiles every instruction each time a filter
 * is loaded, which is once per guest process, so half the instructions take half the time.
 *
 * Jumps only go forward, so a program is a graph without cycles. It is walked from its start with what is known on the
 * way there: a word is not loaded twice, and a comparison whose outcome is known disappears. Parts that continue in the
 * same way are merged.
 */
import { holdsFor, instructionsMax, isEquality, kindOf } from './instruction.ts'
import type { Instruction } from './instruction.ts'
import { layOut } from './lay-out.ts'
import type { Node } from './lay-out.ts'

const allBits = 0xffffffff

/** A word of struct seccomp_data, whole or masked. */
interface Word {
  readonly offset: number
  readonly mask: number
}

/** What is known before an instruction runs. The call's data never changes while a filter runs. */
interface Known {
  /** What the accumulator holds, where that is a word. */
  readonly held: Word | undefined
  readonly equal: readonly (Word & { readonly value: number })[]
  /** Equal if and only if the rest is equal. */
  readonly number: number
}

export function optimize(program: readonly Instruction[]): readonly Instruction[] {
  return layOut(buildGraph(program))
}

function buildGraph(program: readonly Instruction[]): Node {
  const intern = internNodes()
  const visited = new Map<number, Node>()
  const numbers = new Map<string, number>()

  function know(held: Word | undefined, equal: Known['equal']): Known {
    const words = equal.map(({ offset, mask, value }) => `${offset}&${mask}=${value}`)
    const key = `${held?.offset}&${held?.mask} ${words.join(' ')}`
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return { held, equal, number }
  }

  function visit(index: number, known: Known): Node {
    const key = known.number * instructionsMax + index
    const node = visited.get(key) ?? follow(index, known)
    visited.set(key, node)
    return node
  }

  function follow(index: number, known: Known): Node {
    const instruction = program[index]
    if (instruction === undefined)
      throw new RangeError(`The program has no instruction ${index} to continue at.`)
    const { operand, ifTrue, ifFalse } = instruction
    const { held, equal } = known
    const after = index + 1
    switch (kindOf(instruction)) {
      case 'answer':
        return intern(instruction, [])
      case 'skip':
        return visit(after + operand, known)
      case 'load': {
        const word = { offset: operand, mask: allBits }
        if (isSame(held, word)) return visit(after, known)
        const following = program[after]
        const isMasked = following !== undefined && kindOf(following) === 'mask'
        if (isMasked && isSame(held, { ...word, mask: following.operand })) return visit(after + 1, known)
        return intern(instruction, [visit(after, know(word, equal))])
      }
      case 'mask': {
        const word = held && { ...held, mask: (held.mask & operand) >>> 0 }
        return intern(instruction, [visit(after, know(word, equal))])
      }
      case 'compute':
        return intern(instruction, [visit(after, know(undefined, equal))])
      case 'compare': {
        const outcome = foresee(instruction, known)
        if (outcome !== undefined) return visit(after + (outcome ? ifTrue : ifFalse), known)
        // Does not remember which of many values led here, because that would copy the following code for each of them.
        const isLearned = isEquality(instruction) && ifTrue === 0 && held !== undefined
        const whenTrue = isLearned ? know(held, [...equal, { ...held, value: operand }]) : known
        return intern(instruction, [visit(after + ifTrue, whenTrue), visit(after + ifFalse, known)])
      }
    }
  }

  return visit(0, know(undefined, []))
}

/** Gives the same node for the same instruction with the same nodes behind it. */
function internNodes(): (instruction: Instruction, next: readonly Node[]) => Node {
  const nodes = new Map<string, Node>()
  const numbers = new Map<Node, number>()
  return (instruction, next) => {
    const [first, second] = next
    if (first !== undefined && (first === second || isUnused(instruction, first))) return first
    const { code, operand } = instruction
    const key = `${code} ${operand} ${first && numbers.get(first)} ${second && numbers.get(second)}`
    const known = nodes.get(key)
    if (known !== undefined) return known
    const node = { instruction, next }
    nodes.set(key, node)
    numbers.set(node, numbers.size)
    return node
  }
}

/** Whether the accumulator's new value is overwritten at once, or never read. */
function isUnused(instruction: Instruction, { instruction: following }: Node): boolean {
  const kind = kindOf(following)
  return ['load', 'mask'].includes(kindOf(instruction)) && (kind === 'load' || kind === 'answer')
}

function foresee(instruction: Instruction, { held, equal }: Known): boolean | undefined {
  const known = equal.find(({ offset, mask }) => offset === held?.offset && (held.mask & ~mask) === 0)
  return known && held && holdsFor(instruction, (known.value & held.mask) >>> 0)
}

function isSame(left: Word | undefined, right: Word): boolean {
  return left?.offset === right.offset && left.mask === right.mask
}
