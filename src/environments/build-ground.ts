/** What a build needs from the engine. */
import type { NetworkKind } from '../core/network.ts'
import type { Bind } from '../jail/plan/shape.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'

export interface BuildGround {
  /** `binds` are further folders of the host that the sandbox shows. */
  readonly open: (options: SandboxOptions, binds: readonly Bind[]) => Promise<Sandbox>
  /** The version of the Python that guests run on, if there is one. */
  readonly pythonVersion: () => string | null
  /** Bound on the files of one environment. */
  readonly bytesMax: number
  /** Rules for hosts that builds may reach in addition to the package sources. */
  readonly packageHosts: readonly string[]
  /** The networks that the operator allows. */
  readonly networks: readonly NetworkKind[]
}
