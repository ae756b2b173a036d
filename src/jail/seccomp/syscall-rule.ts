/**
 * The types of the system call policy. A rule refuses one call, always or for some of its arguments, and says why. A
 * call that no rule refuses is allowed if its number was reviewed.
 */
import type { Architecture } from './architectures.ts'

/**
 * The answers a refused call can get, with their errno. ENOSYS where libraries fall back to an older call, EPERM
 * where they would report an error anyway, the others where the kernel itself gives them for what it does not know.
 * IGNORED answers as if the call had been made.
 */
export const refusalErrno = {
  IGNORED: 0,
  EPERM: 1,
  EINVAL: 22,
  ENOTTY: 25,
  ENOSYS: 38,
  ENOPROTOOPT: 92,
  EPROTONOSUPPORT: 93,
  ESOCKTNOSUPPORT: 94,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
} as const
export type Refusal = keyof typeof refusalErrno

/**
 * Compares the low 32 bits of one argument, masked if a mask is given. The high half is looked at only to see whether a
 * pointer is null, and for the flags of mmap and mremap, which the kernel takes as an `unsigned long`. Every other
 * argument tested here is an `int`, `unsigned int` or `pid_t` in the kernel (clone takes `lower_32_bits`), so the kernel
 * drops that half itself. Comparing it would let 0x1_0000_5412 pass for something other than TIOCSTI.
 */
export type ArgumentTest =
  | (ArgumentPart & { readonly isOneOf: readonly number[] })
  | (ArgumentPart & { readonly isNoneOf: readonly number[] })

interface ArgumentPart {
  readonly argument: number
  readonly mask?: number
  readonly half?: 'high'
}

export interface SyscallRule {
  readonly name: string
  /** Undefined where the architecture has no such call. */
  readonly numbers: Readonly<Record<Architecture, number | undefined>>
  readonly action: Refusal
  readonly reason: string
  /** All must hold for the rule to refuse the call; without tests it always does. */
  readonly tests?: readonly ArgumentTest[]
}

/** One line of a table: the call, its number on x86-64, its number on arm64, and why it is refused. */
export type RuleRow = readonly [
  name: string,
  x64: number | undefined,
  arm64: number | undefined,
  reason: string,
]

/** Written in a row for an architecture that never had the call. */
export const none = undefined

/** Gives every row of a table the same answer. */
export function refuse(action: Refusal, rows: readonly RuleRow[]): readonly SyscallRule[] {
  return rows.map(([name, x64, arm64, reason]) => ({ name, numbers: { x64, arm64 }, action, reason }))
}
