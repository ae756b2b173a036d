/** What all work of one Lazaret shares. */
import type { Clock } from '../core/clock.ts'
import type { HostAccount } from '../core/host-account.ts'
import type { BestWall } from '../jail/machine/best-wall.ts'
import type { Environments } from '../environments/environments.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import type { ParsedOptions } from './options/options.ts'

export interface EngineGround {
  readonly options: ParsedOptions
  readonly wall: BestWall
  readonly clock: Clock
  /** What clients make this process hold. */
  readonly account: HostAccount
  readonly toolchains: Toolchains
  readonly environments: Environments
}
