/**
 * Looks for the loaded value among many: a binary search whose leaves are a few comparisons, or one word of bits for
 * values that lie close together, as most options do. The kernel reads and compiles every instruction when a filter is
 * loaded, so a short program is a quick start.
 */
import { and, copyToIndex, ifAnyBit, ifAtLeast, ifEqual, loadConstant, shiftByIndex } from './instruction.ts'
import type { Instruction } from './instruction.ts'

/** How many instructions after the whole search to continue. */
export interface Exits {
  readonly found: number
  readonly missed: number
}

/** Values that are looked for in one step. */
interface Group {
  readonly first: number
  readonly values: readonly number[]
}

const wordBits = 32

// A word of bits takes seven instructions, so from here on it is the shorter one.
const valuesInWordMin = 7

// Fewer groups than this are compared one by one: halving them would not save a comparison.
const comparedInTurnMax = 4

export function searchFor(values: readonly number[], exits: Exits): readonly Instruction[] {
  const sorted = values.map((value) => value >>> 0).toSorted((left, right) => left - right)
  return search([...group(sorted)], exits, 0)
}

function* group(sorted: readonly number[]): Generator<Group> {
  for (const [word, values] of Map.groupBy(sorted, (value) => Math.floor(value / wordBits))) {
    if (values.length >= valuesInWordMin) yield { first: word * wordBits, values }
    else for (const value of values) yield { first: value, values: [value] }
  }
}

/** `after` is how many instructions of the search follow these. */
function search(groups: readonly Group[], exits: Exits, after: number): readonly Instruction[] {
  const [only] = groups
  const to = { found: after + exits.found, missed: after + exits.missed }
  if (only !== undefined && groups.length === 1 && only.values.length > 1) return testBit(only, to)
  const middle = Math.floor(groups.length / 2)
  const pivot = groups[middle]
  if (pivot === undefined || (groups.length <= comparedInTurnMax && groups.every(isSingle))) {
    return groups.map(({ first }, index) => {
      const remaining = groups.length - 1 - index
      return ifEqual(first, remaining + to.found, remaining > 0 ? 0 : to.missed)
    })
  }
  const above = search(groups.slice(middle), exits, after)
  const below = search(groups.slice(0, middle), exits, after + above.length)
  return [ifAtLeast(pivot.first, below.length, 0), ...below, ...above]
}

const isSingle = ({ values }: Group) => values.length === 1

/** Shifts by the low five bits: in the range that was checked, they are the place in the word. */
function testBit({ first, values }: Group, to: Exits): readonly Instruction[] {
  const bits = values.reduce((word, value) => word | (1 << (value - first)), 0)
  const test = [
    and(wordBits - 1),
    copyToIndex,
    loadConstant(1),
    shiftByIndex,
    ifAnyBit(bits, to.found, to.missed),
  ]
  const end = first + wordBits
  const below = first === 0 ? [] : [ifAtLeast(first, 0, test.length + 1 + to.missed)]
  return [...below, ifAtLeast(end, test.length + to.missed, 0), ...test]
}
