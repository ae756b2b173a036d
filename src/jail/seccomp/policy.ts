/**
 * Which rules apply to one guest: those for every guest, and those that its situation adds.
 */
import { absentSyscalls } from './lists/absent-syscalls.ts'
import { refuseOthers } from './lists/allow-list.ts'
import { allowLists } from './lists/allow-lists.ts'
import type { Architecture } from './architectures.ts'
import { adoptionRules, argumentRules, noSpawnRules, parentRules } from './argument-rules.ts'
import { hostSocketRules, sharedHostRules, sharedOwnerRules } from './shared-host-rules.ts'
import { refusedSyscalls } from './lists/refused-syscalls.ts'
import { staysVisible, uncountedMemoryRules } from './situation-rules.ts'
import type { SyscallRule } from './syscall-rule.ts'
import { watchRules } from './watch-rules.ts'

export interface SeccompOptions {
  readonly architecture: Architecture
  /** False if rlimits and a watchdog limit memory: then calls that evade both are refused. */
  readonly memoryHeldByCgroup: boolean
  /** False: threads only, no new processes. Default true. */
  readonly canSpawn?: boolean
  /**
   * Set if a process that adopts its descendants must not stop doing so: see native/cell/watch/tree.c. With `splits`, a
   * process has to stop for a moment when it forks, and pid 1 ends processes outside every tree: see
   * native/cell/serve/splits.c.
   */
  readonly keepsAdopting?: boolean | 'splits'
  /** Set for the zygote. Calls with which its forks enter a space and apply a guest's own filter stay allowed. */
  readonly entersSpaces?: boolean
  /** Set if the guest has no namespaces of its own (level `restricted`): the rules that replace them. */
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
    ...(options.keepsAdopting === undefined || options.keepsAdopting === false ? [] : parentRules),
    ...(options.memoryHeldByCgroup ? [] : uncountedMemoryRules),
    ...(options.memoryHeldByCgroup && sharesHost === undefined ? [] : [staysVisible]),
    ...(sharesHost === undefined ? [] : sharedHostRules),
    ...(sharesHost?.owner === true ? sharedOwnerRules : []),
    ...allowLists(entersSpaces).flatMap(refuseOthers),
    ...watchRules,
  ]
}
