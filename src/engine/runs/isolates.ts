/** Runs of the `isolate` runtime: each in its own V8 isolate, in workers inside cells, each worker for one client. */
import { availableParallelism } from 'node:os'

import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import type { RunSpec } from '../../core/request.ts'
import { requireLevel } from '../../policy/require-level.ts'
import { resolveLimits } from '../../policy/resolve-limits.ts'
import type { ResolvedLimits } from '../../policy/resolve-limits.ts'
import { LastingPool } from '../../pool/lasting-pool.ts'
import type { LastingPoolParts } from '../../pool/lasting-parts.ts'
import { neverBegan } from '../../pool/lease.ts'
import type { Exit } from '../../result/exit.ts'
import { noFiles } from '../../runtimes/collect/collect-files.ts'
import type { Job } from '../../runtimes/work/guest-start.ts'
import { ownLibraries } from '../../runtimes/isolate/libraries.ts'
import type { IsolateMode, LibraryPlace } from '../../runtimes/isolate/protocol.ts'
import { IsolateWorker } from '../../runtimes/isolate/worker.ts'
import type { IsolateJob } from '../../runtimes/isolate/worker.ts'
import { misfit } from '../../runtimes/registry.ts'
import { checkSizes } from '../options/check-sizes.ts'
import type { EngineGround } from '../ground.ts'
import type { PlaceEnd, RunPlace, RunPlan, WarmUpPlan } from './run-place.ts'

/** What an adapter of isolates decides, in addition to the options of a Lazaret. */
export interface IsolatesOptions extends Partial<
  Pick<LastingPoolParts<IsolateJob, Exit>, 'workersMax' | 'workersMin' | 'waitingMax' | 'crashes' | 'onEvent'>
> {
  /** What programs may `require`, by name. Default: those of our build. */
  readonly libraries?: Readonly<Record<string, LibraryPlace>>
}

/** What one job needs in addition. */
export interface IsolateTurn {
  readonly mode: IsolateMode
  /** Called when it has found its worker. */
  readonly onBegun?: () => void
}

const MiB = 1024 * 1024
/** Limits of an isolate's heap. */
export const isolateMemory = { usual: 128 * MiB, most: 512 * MiB }
/** A worker takes some 100 MiB. */
const workersMost = 4
const waitingMost = 1000

/** Fields of a request that need a separate process. */
const processFields = ['args', 'files', 'collect', 'preload', 'stdin', 'env'] as const

export class Isolates implements RunPlace, AsyncDisposable {
  readonly #ground: EngineGround
  readonly #pool: LastingPool<IsolateJob, Exit>

  constructor(ground: EngineGround, options: IsolatesOptions = {}) {
    this.#ground = ground
    const { libraries = ownLibraries(), ...pool } = options
    const { wall, clock, toolchains } = ground
    const usualMax = Math.min(Math.max(availableParallelism(), 2), workersMost)
    const parts = { wall, clock, toolchains, libraries, memoryBytes: isolateMemory.usual }
    this.#pool = new LastingPool({
      clock,
      noun: 'program',
      start: () => new IsolateWorker(parts),
      workersMax: ground.options.pools.isolate?.max ?? usualMax,
      waitingMax: waitingMost,
      hasSecondStart: true,
      ...pool,
    })
  }

  get protection(): ProtectionLevel {
    return this.#ground.wall.machine.level
  }

  /** The number of queued programs. */
  get waiting(): number {
    return this.#pool.waiting
  }

  get counts(): LastingPool<IsolateJob, Exit>['counts'] {
    return this.#pool.counts
  }

  plan(spec: RunSpec): RunPlan {
    requireLevel(this.#ground.wall)
    checkIsolate(spec)
    const { limits, clamped } = this.#resolveLimits(spec.limits ?? {})
    checkSizes(spec, limits)
    return { spec, runtime: 'isolate', limits, clamped }
  }

  async run(job: Job, { mode, onBegun }: IsolateTurn = { mode: 'run' }): Promise<PlaceEnd> {
    const { spec, handles } = job
    const turn = { client: spec.client, signal: handles.signal, ...(onBegun !== undefined && { onBegun }) }
    const limits = {
      ...job.limits,
      wallMs: Math.min(job.limits.wallMs, job.limits.cpuMs ?? job.limits.wallMs),
    }
    const { end, queuedMs, start } = await this.#pool.run({ ...job, limits, mode }, turn)
    if (end === null) return { ...neverBegan(), queuedMs }
    return { exit: end, start, queuedMs, collected: noFiles, cleaned: Promise.resolve() }
  }

  planWarmUp(): WarmUpPlan {
    requireLevel(this.#ground.wall)
    return { runtime: 'isolate', start: (count) => this.#pool.warmUp(count) }
  }

  /** Refuses queued and new programs. */
  close(): void {
    this.#pool.close()
  }

  /** Ends the idle workers. */
  drain(): Promise<void> {
    return this.#pool.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }

  #resolveLimits(asked: Partial<Limits>): ResolvedLimits {
    const { defaults, ceilings } = this.#ground.options
    const memoryBytes = Math.min(ceilings.memoryBytes ?? isolateMemory.most, isolateMemory.most)
    return resolveLimits(asked, {
      defaults: { ...defaults, memoryBytes: isolateMemory.usual },
      ceilings: { ...ceilings, memoryBytes },
    })
  }
}

/** Throws INVALID_REQUEST. */
function checkIsolate(spec: RunSpec): void {
  const { language, network = 'none', realm = 'runtime' } = spec
  if (language !== 'javascript' && language !== 'typescript')
    throw misfit('isolate', language, ['javascript', 'typescript'])
  const field = processFields.find((name) => !isEmpty(spec[name]))
  if (field !== undefined) throw refuse(`${field}: a program in an isolate has none; choose another runtime.`)
  if (network !== 'none') throw refuse('network: a program in an isolate has none; choose another runtime.')
  if (realm !== 'runtime') throw refuse('realm: an isolate has one of its own; leave it out.')
}

const refuse = (detail: string): LazaretError => new LazaretError('INVALID_REQUEST', { detail })

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true
  return typeof value === 'string' ? value === '' : Object.keys(value as object).length === 0
}
