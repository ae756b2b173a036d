/** What a build needs of the engine. */
import type { Bind } from '../jail/plan/shape.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'

export interface BuildGround {
  /** `binds` are folders of the host to show besides. */
  readonly open: (options: SandboxOptions, binds: readonly Bind[]) => Promise<Sandbox>
  /** The version of the Python that guests run on, if there is one. */
  readonly pythonVersion: () => string | null
  /** Of one environment, in files. */
  readonly bytesMax: number
  /** Rules for what builds may reach besides the package sources. */
  readonly packageHosts: readonly string[]
}
