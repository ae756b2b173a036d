/** The rules' answer to a call, evaluated one by one in order: slow, obvious, and without BPF. */
import { architectures } from '../../../src/jail/seccomp/architectures.ts'
import { planRules } from '../../../src/jail/seccomp/policy.ts'
import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'
import type { ArgumentTest, Refusal, SyscallRule } from '../../../src/jail/seccomp/syscall-rule.ts'

export type Answer = Refusal | 'allowed'

const planned = new WeakMap<SeccompOptions, ReadonlyMap<number | undefined, readonly SyscallRule[]>>()

export function expectedAnswer(options: SeccompOptions, number: number, values: readonly bigint[]): Answer {
  const { newestReviewed, unassigned } = architectures[options.architecture]
  if (number > newestReviewed) return 'ENOSYS'
  if (unassigned.some(([first, last]) => first <= number && number <= last)) return 'ENOSYS'
  const holds = (test: ArgumentTest) => {
    const whole = values[test.argument] ?? 0n
    const low = Number(BigInt.asUintN(32, test.half === 'high' ? whole >> 32n : whole))
    const value = test.mask === undefined ? low : (low & test.mask) >>> 0
    return 'isOneOf' in test ? test.isOneOf.includes(value) : !test.isNoneOf.includes(value)
  }
  const rule = rulesOf(options)
    .get(number)
    ?.find(({ tests = [] }) => tests.every(holds))
  return rule?.action ?? 'allowed'
}

/** Planned only once for the same options, because tests ask a hundred thousand times. */
function rulesOf(options: SeccompOptions): ReadonlyMap<number | undefined, readonly SyscallRule[]> {
  const rules =
    planned.get(options) ?? Map.groupBy(planRules(options), (rule) => rule.numbers[options.architecture])
  planned.set(options, rules)
  return rules
}
