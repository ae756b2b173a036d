/**
 * seccomp: the guest reaches only the reviewed part of the kernel.
 * Stops: calls that leave the cell, reach other processes, load code into the kernel or hide memory from its limits;
 * calls of a foreign architecture, whose numbers mean something else, end the process. Does not stop: anything behind a
 * pointer (paths, structures), which a filter cannot read.
 * Needs: Linux 3.5 with CONFIG_SECCOMP_FILTER; 4.14 to kill the whole process instead of one thread.
 *
 * The program is a binary search over call numbers, because the kernel walks it once per number when the filter is
 * loaded, and on each call that depends on arguments: nine comparisons instead of a hundred, which halves
 * the time to load it.
 */
import { architectures } from './architectures.ts'
import type { Architecture } from './architectures.ts'
import {
  and,
  answer,
  conditionalJumpMax,
  encode,
  ifAtLeast,
  ifEqual,
  isSameInstruction,
  load,
  skip,
} from './instruction.ts'
import type { Instruction } from './instruction.ts'
import { optimize } from './optimize.ts'
import { planRules } from './policy.ts'
import type { SeccompOptions } from './policy.ts'
import { readBuilt } from './built-programs.ts'
import { refusalErrno } from './syscall-rule.ts'
import type { ArgumentTest, Refusal, SyscallRule } from './syscall-rule.ts'
import { searchFor } from './value-search.ts'

// Offsets in struct seccomp_data. An argument is 64 bits, its low half first.
const numberOffset = 0
const architectureOffset = 4
const argumentOffset = ({ argument, half }: ArgumentTest) => 16 + 8 * argument + (half === 'high' ? 4 : 0)

// SECCOMP_RET_* of <linux/seccomp.h>. An errno goes into the low 16 bits.
const allow = answer(0x7fff0000)
const killProcess = answer(0x80000000)
const refuseWith = (refusal: Refusal) => answer(0x00050000 | refusalErrno[refusal])

/** The calls from `first` up to the next range, and what to run for them. */
interface Range {
  readonly first: number
  readonly decision: readonly Instruction[]
}

/** One entry for each combination of the options: a handful. */
const programs = new Map<string, Uint8Array>()

/**
 * The filter for one guest: the bytes of `struct sock_filter[]`, ready for the launcher to load. Do not change them.
 */
export function seccompProgram(options: SeccompOptions): Uint8Array {
  const key = JSON.stringify(Object.entries(options).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  const known = programs.get(key) ?? readBuilt(options) ?? buildProgram(options)
  programs.set(key, known)
  return known
}

/** For the package's build, and for tests. */
export function buildProgram(options: SeccompOptions): Uint8Array {
  const { auditArchitecture } = architectures[options.architecture]
  const program = [
    load(architectureOffset),
    ifEqual(auditArchitecture, 1, 0),
    killProcess,
    load(numberOffset),
    ...search(splitIntoRanges(options.architecture, planRules(options))),
  ]
  return encode(optimize(program))
}

/** Neighbours with the same decision become one range; the last range has no end. */
function splitIntoRanges(architecture: Architecture, rules: readonly SyscallRule[]): readonly Range[] {
  const { newestReviewed, unassigned } = architectures[architecture]
  const rulesByNumber = Map.groupBy(rules, (rule) => rule.numbers[architecture])
  const isUnknown = (number: number) =>
    number > newestReviewed || unassigned.some(([first, last]) => number >= first && number <= last)

  const ranges: Range[] = []
  for (let number = 0; number <= newestReviewed + 1; number++) {
    const decision = isUnknown(number) ? [refuseWith('ENOSYS')] : decide(rulesByNumber.get(number) ?? [])
    const before = ranges.at(-1)?.decision
    if (before === undefined || !isSame(before, decision)) ranges.push({ first: number, decision })
  }
  return ranges
}

function isSame(left: readonly Instruction[], right: readonly Instruction[]): boolean {
  return (
    left.length === right.length &&
    left.every((one, index) => isSameInstruction(one, right[index] as Instruction))
  )
}

/** The rules of one call, one after another. */
function decide(rules: readonly SyscallRule[]): readonly Instruction[] {
  const always = rules.findIndex((rule) => rule.tests === undefined)
  if (always === -1) return [...rules.flatMap(compileRule), allow]
  // Rules after one without tests can never be reached, so the kernel need not read them.
  return rules.slice(0, always + 1).flatMap(compileRule)
}

/** Built from its end, so that each test knows how much it skips when it does not hold. */
function compileRule({ tests = [], action }: SyscallRule): readonly Instruction[] {
  return tests.reduceRight<readonly Instruction[]>(
    (rest, test) => [...compileTest(test, rest.length), ...rest],
    [refuseWith(action)],
  )
}

function compileTest(test: ArgumentTest, skipWhenFailed: number): readonly Instruction[] {
  const isOneOf = 'isOneOf' in test
  const values = isOneOf ? test.isOneOf : test.isNoneOf
  const masked = test.mask === undefined ? [] : [and(test.mask)]
  const exits = { found: isOneOf ? 0 : skipWhenFailed, missed: isOneOf ? skipWhenFailed : 0 }
  return [load(argumentOffset(test)), ...masked, ...searchFor(values, exits)]
}

/** Compares the loaded number with the middle range until one range is left. */
function search(ranges: readonly Range[]): readonly Instruction[] {
  const middle = Math.floor(ranges.length / 2)
  const pivot = ranges[middle]
  if (pivot === undefined) return [killProcess] // There are no ranges, so nothing is allowed.
  if (middle === 0) return pivot.decision

  const below = search(ranges.slice(0, middle))
  const above = search(ranges.slice(middle))
  const branch =
    below.length <= conditionalJumpMax
      ? [ifAtLeast(pivot.first, below.length, 0)]
      : [ifAtLeast(pivot.first, 0, 1), skip(below.length)]
  return [...branch, ...below, ...above]
}
