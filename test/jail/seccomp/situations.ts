/**
 * The situations in which a filter is used, and the numbers of the calls that tests name. Numbers of refused calls come
 * from the policy, whose own test compares them with the kernel's headers.
 */
import type { Architecture } from '../../../src/jail/seccomp/architectures.ts'
import { planRules } from '../../../src/jail/seccomp/policy.ts'
import type { SeccompOptions } from '../../../src/jail/seccomp/policy.ts'

export const architecturesTested = ['x64', 'arm64'] as const satisfies readonly Architecture[]

const execve = { x64: 59, arm64: 221 }

export function everySituation(architecture: Architecture): readonly SeccompOptions[] {
  const either = [true, false]
  const sharings = [undefined, ...either.flatMap((network) => either.map((owner) => ({ network, owner })))]
  return either.flatMap((memoryHeldByCgroup) =>
    either.flatMap((canSpawn) =>
      sharings.map((sharesHost) => ({
        architecture,
        memoryHeldByCgroup,
        canSpawn,
        ...(sharesHost === undefined ? {} : { sharesHost }),
      })),
    ),
  )
}

/** All rules. */
export const everyRule = planRules({
  architecture: 'x64',
  memoryHeldByCgroup: false,
  canSpawn: false,
  sharesHost: { network: false, owner: true },
})

export function numberOf(name: string, architecture: Architecture): number {
  if (name === 'execve') return execve[architecture]
  const number = everyRule.find((rule) => rule.name === name)?.numbers[architecture]
  if (number === undefined) throw new Error(`The policy has no number for ${name} on ${architecture}.`)
  return number
}
