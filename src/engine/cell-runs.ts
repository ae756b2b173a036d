/** Runs in cells: within which limits, by which runtime, and how a worker is found for each. */
import type { ProtectionLevel } from '../core/protection.ts'
import type { RunSpec } from '../core/request.ts'
import { requireEnforced } from '../policy/require-enforced.ts'
import { requireLevel } from '../policy/require-level.ts'
import { resolveLimits } from '../policy/resolve-limits.ts'
import type { PoolsStats } from '../pool/pool.ts'
import { Pools } from '../pool/pools.ts'
import type { PoolsParts } from '../pool/pools.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
import type { Job } from '../runtimes/guest-start.ts'
import { chooseRuntime } from '../runtimes/registry.ts'
import type { CellRequest } from '../runtimes/registry.ts'
import { checkSizes } from './check-sizes.ts'
import type { EngineGround } from './ground.ts'
import type { PlaceEnd, RunPlace, RunPlan, WarmUpPlan } from './run-place.ts'
import type { WarmUpRequest } from './warm-up.ts'

export class CellRuns implements RunPlace, AsyncDisposable {
  readonly #ground: EngineGround
  readonly #pools: Pools

  constructor(ground: EngineGround, onFailing: PoolsParts['onFailing']) {
    this.#ground = ground
    const { readable, pools: sizes } = ground.options
    const usual = resolveLimits({}, ground.options).limits
    this.#pools = new Pools({ ...ground, readable, sizes, usual, onFailing })
  }

  get stats(): PoolsStats {
    return this.#pools.stats
  }

  get protection(): ProtectionLevel {
    return this.#ground.wall.machine.level
  }

  plan(asked: RunSpec & CellRequest): RunPlan {
    const { options, wall, toolchains } = this.#ground
    requireLevel(wall)
    const spec = { preload: options.preload, ...asked }
    const { limits, clamped } = resolveLimits(spec.limits ?? {}, options)
    requireEnforced(limits, limitMechanisms(wall.machine), options.allowUnenforced)
    checkSizes(spec, limits)
    return { spec, runtime: chooseRuntime(spec, toolchains).name, limits, clamped }
  }

  async run(job: Job & { readonly spec: CellRequest }): Promise<PlaceEnd> {
    const { toolchains } = this.#ground
    await using lease = await this.#pools.lease({ job, runtime: chooseRuntime(job.spec, toolchains) })
    const end = await lease.run(job)
    return { ...end, queuedMs: lease.queuedMs }
  }

  planWarmUp(asked: WarmUpRequest & CellRequest): WarmUpPlan {
    const { options, wall, toolchains } = this.#ground
    requireLevel(wall)
    const { limits } = resolveLimits(asked.limits ?? {}, options)
    const runtime = chooseRuntime(asked, toolchains)
    const shape = this.#pools.shapeOf({ preload: options.preload, ...asked }, runtime, limits)
    return { runtime: runtime.name, start: (count) => this.#pools.warmUp(shape, count) }
  }

  drain(): Promise<void> {
    return this.#pools.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pools[Symbol.asyncDispose]()
  }
}
