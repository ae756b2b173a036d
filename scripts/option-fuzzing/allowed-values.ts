/**
 * The values that the filter allows, read from its rules, because calls that pass are the most interesting ones.
 * A rule that refuses all but some values names them, or the allowed bits; its other conditions say for which calls.
 */
import type { ArgumentTest, SyscallRule } from '../../src/jail/seccomp/syscall-rule.ts'

/** Argument → value. */
export type Choice = ReadonlyMap<number, number>
type Chosen = Map<number, number>
type List = Extract<ArgumentTest, { readonly isNoneOf: readonly number[] }>

/** Sets few of the allowed bits, because otherwise two calls would hardly ever agree. */
const bitShare = 0.25

export class AllowedValues {
  readonly #lists = new Map<string, SyscallRule[]>()

  constructor(rules: readonly SyscallRule[]) {
    for (const rule of rules) {
      const isList = rule.tests?.some((test) => isListOf(test) && test.isNoneOf.length > 0)
      if (isList === true) this.#lists.set(rule.name, [...(this.#lists.get(rule.name) ?? []), rule])
    }
  }

  /** Calls whose arguments have a list of allowed values. */
  get names(): readonly string[] {
    return [...this.#lists.keys()]
  }

  /** Values that pass all lists that apply to the call; nothing for a call without lists. */
  choose(name: string, random: () => number): Choice {
    const chosen: Chosen = new Map()
    const rules = (this.#lists.get(name) ?? []).map((rule) => ({ rule, order: random() }))
    for (const { rule } of rules.toSorted((one, other) => one.order - other.order)) {
      const tests = (rule.tests ?? []).filter(({ half }) => half === undefined)
      const conditions = tests.filter(isCondition)
      if (conditions.some((test) => !holds(test, chosen))) continue
      for (const { argument, isOneOf } of conditions)
        if (!chosen.has(argument)) chosen.set(argument, pick(isOneOf, random))
      for (const list of tests.filter(isListOf)) chooseFrom(list, chosen, random)
    }
    return chosen
  }
}

function isCondition(test: ArgumentTest): test is Exclude<ArgumentTest, List> {
  return 'isOneOf' in test
}

function isListOf(test: ArgumentTest): test is List {
  return 'isNoneOf' in test
}

/** Whether the condition holds; an argument without a value yet can still be given one. */
function holds({ argument, mask = -1, isOneOf }: Exclude<ArgumentTest, List>, chosen: Choice): boolean {
  const value = chosen.get(argument)
  return value === undefined || isOneOf.some((one) => (value & mask) === (one & mask))
}

function chooseFrom({ argument, mask, isNoneOf }: List, chosen: Chosen, random: () => number): void {
  const value = chosen.get(argument)
  if (mask === undefined) {
    if (value === undefined) chosen.set(argument, pick(isNoneOf, random))
    return
  }
  const isFlags = isNoneOf.every((one) => one === 0)
  const before = value ?? (isFlags ? someBits(random) : 0)
  chosen.set(argument, (before & ~mask) | (isFlags ? 0 : pick(isNoneOf, random)))
}

function someBits(random: () => number): number {
  let bits = 0
  for (let at = 0; at < 31; at++) if (random() < bitShare) bits |= 1 << at
  return bits
}

function pick(from: readonly number[], random: () => number): number {
  return from[Math.floor(random() * from.length)] ?? 0
}
