/** What this machine offers, as found by trying it: the answer of `probe()` and of `lazaret doctor`. */
import type { ProtectionLevel } from '../../core/protection.ts'
import type { FoundBy } from '../../core/receipt.ts'
import type { CellRuntimeName } from '../../core/request.ts'

/** One layer of the protection. */
export interface ProbeLayer {
  /** In words, e.g. `user namespaces`, `Landlock`. */
  readonly name: string
  readonly state: 'ok' | 'weaker' | 'missing'
  /** The result of trying the layer, not what a version number promises. */
  readonly observed: string
  /** What is less safe without it; absent if it is `ok`. */
  readonly meaning?: string
  /**
   * The exact package, sysctl, flag or profile that would make it `ok`, in one or more lines; absent when there is
   * none.
   */
  readonly fix?: string
}

/** One program that a runtime needs. */
export interface ProbeToolchain {
  readonly name: CellRuntimeName
  /** Where it was found, on the host. */
  readonly path?: string
  readonly version?: string
  /** Why this one. */
  readonly because?: FoundBy
  readonly state: 'ok' | 'missing'
  readonly fix?: string
}

/** The program that builds the cells. */
export interface ProbeLauncher {
  readonly path: string
  readonly state: 'ok' | 'missing'
  readonly fix?: string
}

export interface ProbeReport {
  /** The strongest level at which a cell really started. */
  readonly level: ProtectionLevel
  /** The level that the operator asks for. */
  readonly minimum: ProtectionLevel
  readonly meetsMinimum: boolean
  readonly layers: readonly ProbeLayer[]
  readonly toolchains: readonly ProbeToolchain[]
  readonly launcher: ProbeLauncher
  /** The kernel's own name and release, e.g. `Linux 6.18.5`. */
  readonly kernel: string
  /** Raw facts behind the layers, for bug reports and machines. */
  readonly facts: Readonly<Record<string, string>>
}
