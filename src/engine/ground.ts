/** What all work of one Lazaret stands on. */
import type { Clock } from '../core/clock.ts'
import type { BestWall } from '../jail/best-wall.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'
import type { ParsedOptions } from './options.ts'

export interface EngineGround {
  readonly options: ParsedOptions
  readonly wall: BestWall
  readonly clock: Clock
  readonly toolchains: Toolchains
}
