/**
 * Which rules stand for one guest: the ones that always do, and the ones its situation adds.
 */
import { absentSyscalls } from './absent-syscalls.ts'
import type { Architecture } from './architectures.ts'
import { argumentRules, noNetworkRules, noSpawnRules } from './argument-rules.ts'
import { refusedSyscalls } from './refused-syscalls.ts'
import { sharedHostRules, uncountedMemoryRules } from './situation-rules.ts'
import type { SyscallRule } from './syscall-rule.ts'

export interface SeccompOptions {
  readonly architecture: Architecture
  /** False where memory is held by rlimits and a watchdog: calls that get past both are refused then. */
  readonly memoryHeldByCgroup: boolean
  /** False: threads only, no new processes. Default true. */
  readonly canSpawn?: boolean
  /** True where the guest has no pid and IPC namespaces of its own (level `restricted`). Default false. */
  readonly sharesHostNamespaces?: boolean
  /**
   * False: AF_UNIX is the only socket family. For a guest without network that has no network namespace either; in
   * an empty namespace leave it true, since loopback is the guest's own there. Default true.
   */
  readonly canOpenInternetSockets?: boolean
}

/** The rules in the order in which they are tried. */
export function planRules(options: SeccompOptions): readonly SyscallRule[] {
  const { canSpawn = true, sharesHostNamespaces = false, canOpenInternetSockets = true } = options
  return [
    ...refusedSyscalls,
    ...absentSyscalls,
    ...(canOpenInternetSockets ? [] : noNetworkRules),
    ...argumentRules,
    ...(canSpawn ? [] : noSpawnRules),
    ...(options.memoryHeldByCgroup ? [] : uncountedMemoryRules),
    ...(sharesHostNamespaces ? sharedHostRules : []),
  ]
}
