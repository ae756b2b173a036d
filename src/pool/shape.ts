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
  /** A bare realm is made ahead, because making it takes as long as the rest of a run. */
  readonly realm: Realm
  readonly network: Network
  /** Modules and packages that are loaded ahead. */
  readonly preload: readonly string[]
  /** Packages of an environment, in addition to the operator's. */
  readonly environment: GuestEnvironment | undefined
  /** The client to whom the interpreter belongs; empty if it is shared by all clients. */
  readonly client: string
  /** The limits with which it starts; a run may have lower ones. */
  readonly limits: Limits
  /** Equal for workers of the same shape. */
  readonly key: string
}

export interface ShapeRequest extends Pick<RunSpec, 'language' | 'realm' | 'network' | 'preload' | 'client'> {
  readonly environment?: GuestEnvironment | undefined
}

export interface ShapeGround {
  readonly limits: Limits
  /** The limits of a request that names none. */
  readonly usual: Limits
  /**
   * Whether the memory limit can be lowered later. Without a cgroup it is a limit on data: an engine reserves up to it
   * when it starts, and could allocate nothing more after it was lowered.
   */
  readonly memoryHeldByCgroup: boolean
  /** Absent if no worker may be a fork. */
  readonly sizes?: PoolSizes
}

export function shapeOf(
  { language, realm = 'runtime', network = 'none', environment, ...request }: ShapeRequest,
  runtime: Runtime,
  { limits, usual, memoryHeldByCgroup, sizes }: ShapeGround,
): WorkerShape {
  const started =
    runtime.parks === 'cell'
      ? // The run starts its program, so only the size of its disk is fixed before.
        { ...usual, diskBytes: limits.diskBytes }
      : {
          ...usual,
          ...Object.fromEntries(onlyLowered.map((name) => [name, Math.max(limits[name], usual[name])])),
          ...(memoryHeldByCgroup ? {} : { memoryBytes: limits.memoryBytes }),
        }
  const isOfOneClient = sizes?.[runtime.name]?.forks === 'client' && mayFork({ runtime, network }, sizes)
  const client = isOfOneClient ? (request.client ?? '') : ''
  // A bare realm and a shell import nothing ahead.
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

/** What the harness loads ahead; null if no harness is started ahead. */
export function parkRequestOf({ runtime, language, realm, preload }: WorkerShape): ParkRequest | null {
  if (runtime.parks === 'cell' || language === 'shell') return null
  return { park: language, preload, ...(realm === 'bare' ? { realm } : {}) }
}

/** Whether workers of this shape come from a zygote's cell where possible: as forks, or as shells in its spaces. */
export function mayFork(
  { runtime, network }: Pick<WorkerShape, 'runtime' | 'network'>,
  sizes: PoolSizes,
): boolean {
  return (
    networkModeOf(network) === 'none' && runtime.zygote !== undefined && sizes[runtime.name]?.forks !== false
  )
}

/** Equal for workers that can be forks of one interpreter. */
export function zygoteKey(shape: WorkerShape): string {
  const { runtime, language, realm, preload, environment, client, limits } = shape
  const heapBytes = runtime.zygote?.hasHeapLimit === true ? limits.memoryBytes : 0
  return JSON.stringify([runtime.name, language, realm, preload, environment?.hash, client, heapBytes])
}

/**
 * Whether a request could be served by any parked worker. Its program has started already, so a request can only set
 * variables that nothing has read yet, and bring files that the engine does not read at its start. Modules loaded ahead may
 * have read any variable.
 */
export function canBeParked({ env = {}, preload = [], files = {} }: RunSpec, runtime: Runtime): boolean {
  const { startFiles } = runtime
  if (startFiles !== undefined && Object.keys(files).some((path) => startFiles.test(path))) return false
  const names = Object.keys(env)
  if (runtime.parks === 'cell' || names.length === 0) return true
  return preload.length === 0 && names.every((name) => runtime.readsLate?.(name) === true)
}

/** The size of a pool. */
export interface PoolSize {
  /** Kept parked even without requests. Default 0. */
  readonly min: number
  /** Parked at one time at most. 0 turns the pool off. Default 8. */
  readonly max: number
  /**
   * Whether its workers are forks of one interpreter, where they can be: Python's, Bun's and Node's. For the shell, which
   * has nothing to fork: whether they share the view of one cell. With `client` each client has its own. Default true.
   */
  readonly forks?: boolean | 'client'
}

export const defaultPoolSize: PoolSize = { min: 0, max: 8 }

export type PoolSizes = Partial<Record<RuntimeName, Partial<PoolSize>>>
