/**
 * Allowlists: for a call that takes a command, an option or flags by value, the values that programs need, each with
 * its use and its users. Everything else is refused, so what a newer kernel adds stays out until somebody has read what
 * it does.
 */
import type { ArgumentTest, Refusal, SyscallRule } from '../syscall-rule.ts'

export interface AllowedValue {
  readonly value: number
  readonly name: string
  readonly use: string
  /** The programs, languages and libraries that need it. */
  readonly neededBy: string
}

export interface AllowList {
  /** One call, or several that read the argument in the same way. */
  readonly calls: readonly Pick<SyscallRule, 'name' | 'numbers'>[]
  readonly argument: number
  /** The list holds for calls whose other arguments are like this, e.g. for one level of setsockopt. */
  readonly when?: readonly ArgumentTest[]
  /** Set where the argument is a word of flags: each bit that is not listed is refused. */
  readonly isFlags?: true
  /** Set where only some of the argument's bits hold the value; the others belong to another list. */
  readonly mask?: number
  /** Set where the kernel reads flags of 64 bits: none of the upper ones is allowed. */
  readonly hasHighHalf?: true
  readonly otherwise: Refusal
  /** What unlisted values could do. */
  readonly reason: string
  readonly allowed: readonly AllowedValue[]
}

/** One line of a list: value, name, what it is for, and who needs it. */
export type AllowedRow = readonly [value: number, name: string, use: string, neededBy: string]

export function allow(rows: readonly AllowedRow[]): readonly AllowedValue[] {
  return rows.map(([value, name, use, neededBy]) => ({ value, name, use, neededBy }))
}

/** A call of the lists: its name, its number on x86-64, its number on arm64. */
export const call = (name: string, x64: number, arm64: number | undefined) => ({
  name,
  numbers: { x64, arm64 },
})

/** The rules that refuse what a list does not name. */
export function refuseOthers(list: AllowList): readonly SyscallRule[] {
  const { argument, when = [], otherwise: action, reason } = list
  return list.calls.flatMap((one) =>
    unlisted(list).map((test) => ({ ...one, action, reason, tests: [...when, { argument, ...test }] })),
  )
}

type Unlisted = Pick<ArgumentTest, 'mask' | 'half'> & { readonly isNoneOf: readonly number[] }

function unlisted({ allowed, isFlags, mask, hasHighHalf }: AllowList): readonly Unlisted[] {
  const values = allowed.map(({ value }) => value)
  if (isFlags === undefined) return [{ isNoneOf: values, ...(mask === undefined ? {} : { mask }) }]
  const bits = values.reduce((union, value) => union | value, 0)
  const low = { mask: ~(bits | ~(mask ?? 0xffffffff)) >>> 0, isNoneOf: [0] }
  return hasHighHalf === true ? [low, { half: 'high', isNoneOf: [0] }] : [low]
}
