/** A Lazaret with workers parked for one kind of run, and one with none. */
import type { RunRequest, RuntimeName } from '../src/core/request.ts'
import type { RunResult } from '../src/core/result.ts'
import { createLazaret } from '../src/engine/lazaret.ts'
import type { Lazaret } from '../src/engine/api.ts'
import type { LazaretOptions } from '../src/engine/options/options.ts'
import type { WarmUpRequest } from '../src/engine/warm-up.ts'
import { faultOf } from './workloads.ts'

/** At most `count` workers are parked, and exactly that many when a measurement begins. */
export type Parking = WarmUpRequest & { readonly runtime: RuntimeName; readonly count: number }

const none = { max: 0 }
const noPools = { bun: none, node: none, python: none, shell: none }

/** Every run gets a cell that is built for it. */
export function createCold(): Lazaret {
  return createLazaret({ pools: noPools })
}

export class WarmLazaret implements AsyncDisposable {
  readonly lazaret: Lazaret
  /** The name of its row. */
  readonly name: string
  readonly #parking: Parking
  #runs = 0
  #coldRuns = 0

  constructor(parking: Parking, toolchains: NonNullable<LazaretOptions['toolchains']> = {}) {
    const { runtime, count, preload = [] } = parking
    this.lazaret = createLazaret({ toolchains, pools: { ...noPools, [runtime]: { max: count } }, preload })
    this.name = `lazaret ${runtime}, warm`
    this.#parking = parking
  }

  /** Resolves when all workers are parked. */
  settle = async (): Promise<void> => await this.lazaret.warmUp(this.#parking)

  /** Resolves when at least `count` workers are parked. */
  grow = async (count: number): Promise<void> => await this.lazaret.warmUp({ ...this.#parking, count })

  /** Workers that are parked now. */
  get parked(): number {
    return this.lazaret.stats().pools.reduce((sum, { parked }) => sum + parked, 0)
  }

  /** Makes one run, and returns what was wrong with it. */
  async run(request: RunRequest, expected: string): Promise<string | undefined> {
    return faultOf(await this.#run(request), expected)
  }

  /** The milliseconds of one run. Throws if the result is wrong. */
  async time(request: RunRequest, expected: string): Promise<number> {
    const start = performance.now()
    const result = await this.#run(request)
    const ms = performance.now() - start
    const fault = faultOf(result, expected)
    if (fault !== undefined) throw new Error(`A turn of ${this.name} ${fault}.`)
    return ms
  }

  /** Remarks that its rows do not show. */
  notes = (): string[] =>
    this.#coldRuns > 0 ? [`${this.#coldRuns} of ${this.#runs} runs of lazaret found no parked worker.`] : []

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lazaret[Symbol.asyncDispose]()
  }

  async #run(request: RunRequest): Promise<RunResult> {
    const result = await this.lazaret.run(request)
    this.#runs++
    if (result.receipt.start === 'cold') this.#coldRuns++
    return result
  }
}
