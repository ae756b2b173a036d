/** Which calls of a program the filter refuses, by its rules: an errno alone does not tell whether filter or kernel refused. */
import { architectures } from '../../src/jail/seccomp/architectures.ts'
import type { Architecture } from '../../src/jail/seccomp/architectures.ts'
import type { ArgumentTest, SyscallRule } from '../../src/jail/seccomp/syscall-rule.ts'
import type { Call } from './program.ts'

export type Verdict = 'refused' | 'probably refused' | 'let through'

export class Refusals {
  readonly #rules: Readonly<Partial<Record<number, readonly SyscallRule[]>>>
  readonly #architecture: Architecture
  readonly #numbers: ReadonlyMap<string, number>

  constructor(
    rules: readonly SyscallRule[],
    architecture: Architecture,
    numbers: ReadonlyMap<string, number>,
  ) {
    this.#rules = Object.groupBy(rules, (rule) => rule.numbers[architecture] ?? -1)
    this.#architecture = architecture
    this.#numbers = numbers
  }

  verdict({ name, words }: Call): Verdict {
    const number = name.startsWith('#') ? Number(name.slice(1)) : this.#numbers.get(name)
    const { newestReviewed, unassigned } = architectures[this.#architecture]
    if (number === undefined || number > newestReviewed) return 'refused'
    if (unassigned.some(([first, last]) => number >= first && number <= last)) return 'refused'
    const rule = (this.#rules[number] ?? []).find(({ tests = [] }) =>
      tests.every((test) => holds(test, words[test.argument] ?? '0')),
    )
    if (rule === undefined) return 'let through'
    const isKnown = (rule.tests ?? []).every(
      ({ argument }) => readNumber(words[argument] ?? '0') !== undefined,
    )
    // With IGNORED a call seems to succeed, and the guest changes the flags of clone.
    const isSure = isKnown && rule.action !== 'IGNORED' && rule.name !== 'clone'
    return isSure ? 'refused' : 'probably refused'
  }
}

/** Values that only the guest knows, such as descriptors and addresses, are in no list. */
function holds(test: ArgumentTest, word: string): boolean {
  const isListed = 'isOneOf' in test
  const values = isListed ? test.isOneOf : test.isNoneOf
  const whole = readNumber(word)
  if (whole === undefined) return !isListed
  const part = Number(BigInt.asUintN(32, test.half === 'high' ? whole >> 32n : whole))
  const masked = (part & (test.mask ?? -1)) >>> 0
  return values.some((value) => value >>> 0 === masked) === isListed
}

/** Parses a number as strtoull does. */
function readNumber(word: string): bigint | undefined {
  if (!/^-?(0x[0-9a-f]+|\d+)$/i.test(word)) return undefined
  if (/^0[0-7]+$/.test(word)) return BigInt(`0o${word.slice(1)}`)
  return word.startsWith('-') ? -BigInt(word.slice(1)) : BigInt(word)
}
