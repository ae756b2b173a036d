/** What a parked worker can serve: everything that is decided when it is started, and not when its run begins. */
import type { Limits } from '../core/limits.ts'
import type { Language, NetworkMode, Realm, RunSpec, RuntimeName } from '../core/request.ts'
import { onlyLowered } from '../jail/limits/plan-limits.ts'
import type { ParkRequest } from '../runtimes/channel-protocol.ts'
import type { Runtime } from '../runtimes/runtime.ts'

export interface WorkerShape {
  readonly runtime: Runtime
  readonly language: Language
  /** Made ahead, because a realm of its own takes as long as the rest of a run. */
  readonly realm: Realm
  readonly network: NetworkMode
  /** Modules that are imported ahead, in Python. */
  readonly preload: readonly string[]
  /** What it is started with; a run may have less of everything. */
  readonly limits: Limits
  /** The same for workers that are alike. */
  readonly key: string
}

export type ShapeRequest = Pick<RunSpec, 'language' | 'realm' | 'network' | 'preload'>

export interface ShapeGround {
  readonly limits: Limits
  /** The limits of a request that asks for none. */
  readonly usual: Limits
  /**
   * Whether memory can be lowered later. An engine reserves as much as its limit on data allows when it starts, and with
   * a lower one after that could have nothing more.
   */
  readonly memoryHeldByCgroup: boolean
}

export function shapeOf(
  { language, realm = 'runtime', network = 'none', preload = [] }: ShapeRequest,
  runtime: Runtime,
  { limits, usual, memoryHeldByCgroup }: ShapeGround,
): WorkerShape {
  const started =
    runtime.parks === 'cell'
      ? // Its program is started by the run: nothing but the size of its disk stands before.
        { ...usual, diskBytes: limits.diskBytes }
      : {
          ...usual,
          ...Object.fromEntries(onlyLowered.map((name) => [name, Math.max(limits[name], usual[name])])),
          ...(memoryHeldByCgroup ? {} : { memoryBytes: limits.memoryBytes }),
        }
  const key = JSON.stringify([
    runtime.name,
    language,
    realm,
    network,
    preload,
    onlyLowered.map((name) => started[name]),
  ])
  return { runtime, language, realm, network, preload, limits: started, key }
}

/** What the harness loads ahead; null where there is none before the run. */
export function parkRequestOf({ runtime, language, realm, preload }: WorkerShape): ParkRequest | null {
  if (runtime.parks === 'cell' || language === 'shell') return null
  return { park: language, preload, ...(realm === 'bare' ? { realm } : {}) }
}

/** Whether a request could be served by any parked worker: environment variables are given to a process at its start. */
export function canBeParked({ env }: RunSpec, runtime: Runtime): boolean {
  return runtime.parks === 'cell' || env === undefined || Object.keys(env).length === 0
}

/** How many workers a pool keeps. */
export interface PoolSize {
  /** Kept parked also when nobody asks. Default 0. */
  readonly min: number
  /** Parked at one time at most. 0 turns the pool off. Default 8. */
  readonly max: number
}

export const defaultPoolSize: PoolSize = { min: 0, max: 8 }

export type PoolSizes = Partial<Record<RuntimeName, Partial<PoolSize>>>
