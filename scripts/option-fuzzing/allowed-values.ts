/**
 * What the filter in force lets through, read from the rules themselves: calls that pass are the ones worth making most.
 * A rule that refuses all but some values names these; its other tests say for which calls.
 */
import type { SyscallRule } from '../../src/jail/seccomp/syscall-rule.ts'

/** Argument → value. */
export type Choice = ReadonlyMap<number, number>
type Pick = <T>(from: readonly T[]) => T

export class AllowedValues {
  readonly #lists = new Map<string, SyscallRule[]>()

  constructor(rules: readonly SyscallRule[]) {
    for (const rule of rules) {
      const isList = rule.tests?.some((test) => 'isNoneOf' in test && test.isNoneOf.length > 0)
      if (isList) this.#lists.set(rule.name, [...(this.#lists.get(rule.name) ?? []), rule])
    }
  }

  /** Calls of which only listed values pass. */
  get names(): readonly string[] {
    return [...this.#lists.keys()]
  }

  /** Values that one of the call's lists has; nothing for a call without lists. */
  choose(name: string, pick: Pick): Choice {
    const lists = this.#lists.get(name) ?? []
    const values = new Map<number, number>()
    if (lists.length === 0) return values
    for (const test of pick(lists).tests ?? []) {
      if ('half' in test && test.half === 'high') continue
      const from = 'isNoneOf' in test ? test.isNoneOf : test.isOneOf
      if (from.length > 0) values.set(test.argument, pick(from))
    }
    return values
  }
}
