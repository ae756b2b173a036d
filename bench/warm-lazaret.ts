/** A Lazaret with workers parked for one kind of run; on a version without pools, one whose runs are cold, and that says so. */
import type { Language, RunRequest, RuntimeName } from '../src/core/request.ts'
import type { RunResult } from '../src/core/result.ts'
import { createLazaret } from '../src/engine/lazaret.ts'
import type { Lazaret } from '../src/engine/lazaret.ts'
import type { LazaretOptions } from '../src/engine/options.ts'
import { faultOf } from './workloads.ts'

export interface Parking {
  readonly language: Language
  readonly runtime: RuntimeName
  /** Workers that stand parked when a measurement begins; at most so many are ever parked. */
  readonly count: number
  /** Modules that they have imported. */
  readonly preload?: readonly string[]
}

interface Pools {
  warmUp(request: Parking): Promise<void>
  stats(): { readonly pools: readonly { readonly parked: number }[] }
}

type PoolOptions = LazaretOptions & {
  readonly pools?: Readonly<Record<string, { readonly max: number }>>
  readonly preload?: readonly string[]
}

/** The start of a run is in its receipt from the version with pools on. */
type Start = { readonly start?: 'cold' | 'parked' | 'forked' }

export const hasPools: boolean = await (async () => {
  await using lazaret = createLazaret()
  return 'warmUp' in lazaret
})()

const none = { max: 0 }
const noPools = { bun: none, node: none, python: none, shell: none }

/** With every run in a cell of its own, made for it. */
export function createCold(): Lazaret {
  const options: PoolOptions = { pools: noPools }
  return createLazaret(hasPools ? options : {})
}

export class WarmLazaret implements AsyncDisposable {
  readonly lazaret: Lazaret
  readonly #parking: Parking
  #runs = 0
  #coldRuns = 0

  constructor(parking: Parking, toolchains: NonNullable<LazaretOptions['toolchains']> = {}) {
    const { runtime, count, preload = [] } = parking
    const options: PoolOptions = { toolchains, pools: { ...noPools, [runtime]: { max: count } }, preload }
    this.lazaret = createLazaret(hasPools ? options : { toolchains })
    this.#parking = parking
  }

  /** How a row of it is called. */
  get name(): string {
    return `lazaret ${this.#parking.runtime}, ${hasPools ? 'warm' : 'cold: no pools yet'}`
  }

  /** Resolves when all workers stand parked. */
  settle = async (): Promise<void> => await this.grow(this.#parking.count)

  /** Resolves when at least `count` workers stand parked. */
  grow = async (count: number): Promise<void> => {
    if (hasPools) await this.#pools.warmUp({ ...this.#parking, count })
  }

  /** Workers that stand parked now. */
  get parked(): number {
    if (!hasPools) return 0
    return this.#pools.stats().pools.reduce((sum, pool) => sum + pool.parked, 0)
  }

  /** One run, and what was wrong with it. */
  async run(request: RunRequest, expected: string): Promise<string | undefined> {
    return faultOf(await this.#run(request), expected)
  }

  /** One run that must be right. Milliseconds. */
  async time(request: RunRequest, expected: string): Promise<number> {
    const start = performance.now()
    const result = await this.#run(request)
    const ms = performance.now() - start
    const fault = faultOf(result, expected)
    if (fault !== undefined) throw new Error(`A turn of ${this.name} ${fault}.`)
    return ms
  }

  /** What its rows would not tell. */
  notes = (): string[] =>
    hasPools && this.#coldRuns > 0
      ? [`${this.#coldRuns} of ${this.#runs} runs of lazaret found no parked worker.`]
      : []

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lazaret[Symbol.asyncDispose]()
  }

  get #pools(): Pools {
    return this.lazaret as Lazaret & Pools
  }

  async #run(request: RunRequest): Promise<RunResult> {
    const result = await this.lazaret.run(request)
    this.#runs++
    const { start }: Start = result.receipt as Start
    if (start === 'cold') this.#coldRuns++
    return result
  }
}
