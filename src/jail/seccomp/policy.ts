/**
 * Which rules stand for one guest: the ones that always do, and the ones its situation adds.
 */
import { absentSyscalls } from './absent-syscalls.ts'
import { refuseOthers } from './allow-list.ts'
import { allowLists } from './allow-lists.ts'
import type { Architecture } from './architectures.ts'
import { adoptionRules, argumentRules, noSpawnRules } from './argument-rules.ts'
import { hostSocketRules, sharedHostRules, sharedOwnerRules } from './shared-host-rules.ts'
import { refusedSyscalls } from './refused-syscalls.ts'
import { staysVisible, uncountedMemoryRules } from './situation-rules.ts'
import type { SyscallRule } from './syscall-rule.ts'
import { watchRules } from './watch-rules.ts'

export interface SeccompOptions {
  readonly architecture: Architecture
  /** False where memory is held by rlimits and a watchdog: calls that get past both are refused then. */
  readonly memoryHeldByCgroup: boolean
  /** False: threads only, no new processes. Default true. */
  readonly canSpawn?: boolean
  /** Set where a process that was told to adopt its descendants must not stop doing so: see native/cell/watch/tree.c. */
  readonly keepsAdopting?: boolean
  /** For the zygote, whose forks enter a space and then get a guest's own filter: what that takes stays allowed. */
  readonly entersSpaces?: boolean
  /** Set where the guest has no namespaces of its own (level `restricted`): what then stands in for them. */
  readonly sharesHost?: SharedHost
}

export interface SharedHost {
  /** Whether the guest may use the host's network. */
  readonly network: boolean
  /** Whether the guest has the uid of the service, and so owns its files. */
  readonly owner: boolean
}

/** The rules in the order in which they are tried. */
export function planRules(options: SeccompOptions): readonly SyscallRule[] {
  const { canSpawn = true, sharesHost } = options
  const entersSpaces = options.entersSpaces === true
  const enters = entersSpaces ? ['setns', 'chroot'] : []
  return [
    ...refusedSyscalls.filter(({ name }) => !enters.includes(name)),
    ...absentSyscalls,
    ...(sharesHost === undefined ? [] : hostSocketRules(sharesHost.network)),
    ...argumentRules,
    ...(canSpawn ? [] : noSpawnRules),
    ...(options.keepsAdopting === true ? adoptionRules : []),
    ...(options.memoryHeldByCgroup ? [] : uncountedMemoryRules),
    ...(options.memoryHeldByCgroup && sharesHost === undefined ? [] : [staysVisible]),
    ...(sharesHost === undefined ? [] : sharedHostRules),
    ...(sharesHost?.owner === true ? sharedOwnerRules : []),
    ...allowLists(entersSpaces).flatMap(refuseOthers),
    ...watchRules,
  ]
}
