/** What a parked worker can serve: everything that is decided when it is started, and not when its run begins. */
import type { Limits } from '../core/limits.ts'
import { networkModeOf } from '../core/network.ts'
import type { Network } from '../core/network.ts'
import type { Language, Realm, RunSpec, RuntimeName } from '../core/request.ts'
import { onlyLowered } from '../jail/limits/plan-limits.ts'
import type { ParkRequest } from '../runtimes/channel/channel-protocol.ts'
import type { GuestEnvironment } from '../runtimes/packages/guest-packages.ts'
import type { Runtime } from '../runtimes/runtime.ts'

export interface WorkerShape {
  readonly runtime: Runtime
  readonly language: Language
  /** Made ahead, because its own realm takes as long as the rest of a run. */
  readonly realm: Realm
  readonly network: Network
  /** Modules and packages that are loaded ahead. */
  readonly preload: readonly string[]
  /** Packages for it besides the operator's. */
  readonly environment: GuestEnvironment | undefined
  /** Whose forks alone come from its interpreter; empty where forks of all clients do. */
  readonly client: string
  /** What it is started with; a run may have less of everything. */
  readonly limits: Limits
  /** The same for workers that are alike. */
  readonly key: string
}

export interface ShapeRequest extends Pick<RunSpec, 'language' | 'realm' | 'network' | 'preload' | 'client'> {
  readonly environment?: GuestEnvironment | undefined
}

export interface ShapeGround {
  readonly limits: Limits
  /** The limits of a request that asks for none. */
  readonly usual: Limits
  /**
   * Whether memory can be lowered later. An engine reserves as much as its limit on data allows when it starts, and with
   * a lower one after that could have nothing more.
   */
  readonly memoryHeldByCgroup: boolean
  /** Absent where no worker is a fork. */
  readonly sizes?: PoolSizes
}

export function shapeOf(
  { language, realm = 'runtime', network = 'none', environment, ...request }: ShapeRequest,
  runtime: Runtime,
  { limits, usual, memoryHeldByCgroup, sizes }: ShapeGround,
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
  const isOfOneClient = sizes?.[runtime.name]?.forks === 'client' && mayFork({ runtime, network }, sizes)
  const client = isOfOneClient ? (request.client ?? '') : ''
  // Nothing is imported in a bare realm, nor into a shell.
  const preload = realm === 'bare' || runtime.parks === 'cell' ? [] : (request.preload ?? [])
  const key = JSON.stringify([
    runtime.name,
    language,
    realm,
    network,
    preload,
    environment?.hash,
    client,
    onlyLowered.map((name) => started[name]),
  ])
  return { runtime, language, realm, network, preload, environment, client, limits: started, key }
}

/** What the harness loads ahead; null if there is none before the run. */
export function parkRequestOf({ runtime, language, realm, preload }: WorkerShape): ParkRequest | null {
  if (runtime.parks === 'cell' || language === 'shell') return null
  return { park: language, preload, ...(realm === 'bare' ? { realm } : {}) }
}

/** Whether workers of this shape are forks, where the machine lets them be. */
export function mayFork(
  { runtime, network }: Pick<WorkerShape, 'runtime' | 'network'>,
  sizes: PoolSizes,
): boolean {
  return (
    networkModeOf(network) === 'none' && runtime.zygote !== undefined && sizes[runtime.name]?.forks !== false
  )
}

/** The same for workers that can be forks of one interpreter. */
export function zygoteKey(shape: WorkerShape): string {
  const { runtime, language, realm, preload, environment, client, limits } = shape
  const heapBytes = runtime.zygote?.hasHeapLimit === true ? limits.memoryBytes : 0
  return JSON.stringify([runtime.name, language, realm, preload, environment?.hash, client, heapBytes])
}

/**
 * Whether a request could be served by any parked worker. It has started already: variables can be given to it where nothing
 * has read them before, which what was loaded ahead may have.
 */
export function canBeParked({ env = {}, preload = [] }: RunSpec, runtime: Runtime): boolean {
  const names = Object.keys(env)
  if (runtime.parks === 'cell' || names.length === 0) return true
  return preload.length === 0 && names.every((name) => runtime.readsLate?.(name) === true)
}

/** How many workers a pool keeps. */
export interface PoolSize {
  /** Kept parked even without requests. Default 0. */
  readonly min: number
  /** Parked at one time at most. 0 turns the pool off. Default 8. */
  readonly max: number
  /**
   * Whether its workers are forks of one interpreter, where they can be: Python's, Bun's and Node's. With `client` each
   * client has its own interpreter. Default true.
   */
  readonly forks?: boolean | 'client'
}

export const defaultPoolSize: PoolSize = { min: 0, max: 8 }

export type PoolSizes = Partial<Record<RuntimeName, Partial<PoolSize>>>
