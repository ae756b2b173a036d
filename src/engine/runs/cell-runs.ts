/** Runs in cells: their limits, their runtime, and how each gets a worker. */
import type { ProtectionLevel } from '../../core/protection.ts'
import { preloadFor } from '../../core/preload.ts'
import type { RunSpec } from '../../core/request.ts'
import { requireEnforced } from '../../policy/require-enforced.ts'
import { requireNamespaces } from '../../policy/network/require-namespaces.ts'
import { requireLevel } from '../../policy/require-level.ts'
import { resolveLimits } from '../../policy/resolve-limits.ts'
import type { PoolsStats } from '../../pool/pool.ts'
import { Pools } from '../../pool/pools.ts'
import type { PoolsParts } from '../../pool/pools.ts'
import { limitMechanisms } from '../../jail/limits/plan-limits.ts'
import type { GuestEnvironment } from '../../runtimes/packages/guest-packages.ts'
import type { Job } from '../../runtimes/work/guest-start.ts'
import { chooseRuntime } from '../../runtimes/registry.ts'
import type { CellRequest } from '../../runtimes/registry.ts'
import { checkSizes } from '../options/check-sizes.ts'
import type { EngineGround } from '../ground.ts'
import type { PlaceEnd, RunPlace, RunPlan, WarmUpPlan } from './run-place.ts'
import type { WarmUpRequest } from '../warm-up.ts'

export class CellRuns implements RunPlace, AsyncDisposable {
  readonly #ground: EngineGround
  readonly #pools: Pools

  constructor(ground: EngineGround, heard: Pick<PoolsParts, 'onFailing' | 'onZygoteFailing'>) {
    this.#ground = ground
    const { readable, packages, pools: sizes } = ground.options
    const usual = resolveLimits({}, ground.options).limits
    this.#pools = new Pools({ ...ground, readable, packages, sizes, usual, ...heard })
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
    requireNamespaces(asked.network, wall)
    const spec = { preload: preloadFor(options.preload, asked.language), ...asked }
    const { limits, clamped } = resolveLimits(spec.limits ?? {}, options)
    requireEnforced(limits, limitMechanisms(wall.machine), options.allowUnenforced)
    checkSizes(spec, limits)
    const { name } = chooseRuntime(spec, toolchains)
    const interpreter = toolchains.describe(name, { isOwnView: wall.machine.wall === 'namespaces' })
    return { spec, runtime: name, interpreter, limits, clamped }
  }

  async run(job: Job & { readonly spec: CellRequest }): Promise<PlaceEnd> {
    const runtime = chooseRuntime(job.spec, this.#ground.toolchains)
    const environment = this.#open(job.spec.environment)
    await using lease = await this.#pools.lease({ job, runtime, environment })
    const end = await lease.run(job)
    return { ...end, queuedMs: lease.queuedMs }
  }

  planWarmUp(asked: WarmUpRequest & CellRequest): WarmUpPlan {
    const { options, wall, toolchains } = this.#ground
    requireLevel(wall)
    requireNamespaces(asked.network, wall)
    const { limits } = resolveLimits(asked.limits ?? {}, options)
    const runtime = chooseRuntime(asked, toolchains)
    const start = (count: number) => {
      const environment = this.#open(asked.environment)
      const request = { preload: preloadFor(options.preload, asked.language), ...asked, environment }
      return this.#pools.warmUp(this.#pools.shapeOf(request, runtime, limits), count)
    }
    return { runtime: runtime.name, start }
  }

  /** Throws ENVIRONMENT_NOT_FOUND and what else opening it throws. */
  #open(name: string | undefined): GuestEnvironment | undefined {
    return name === undefined ? undefined : this.#ground.environments.open(name)
  }

  drain(): Promise<void> {
    return this.#pools.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pools[Symbol.asyncDispose]()
  }
}
