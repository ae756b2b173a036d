/** A Lazaret with workers parked for one runtime; on a version without pools, one whose runs are cold, and that says so. */
import type { RunRequest, RuntimeName } from '../src/core/request.ts'
import { createLazaret } from '../src/engine/lazaret.ts'
import type { Lazaret } from '../src/engine/lazaret.ts'
import type { LazaretOptions } from '../src/engine/options.ts'
import { faultOf } from './workloads.ts'

export interface Parking {
  readonly runtime: RuntimeName
  /** Workers that stand parked when a measurement begins. */
  readonly count: number
  /** Modules that they have imported. */
  readonly preload?: readonly string[]
}

interface Pools {
  warmUp(request: Parking): Promise<void>
}

export class WarmLazaret implements AsyncDisposable {
  readonly lazaret: Lazaret
  readonly #parking: Parking
  readonly #pools: Pools | undefined

  constructor(parking: Parking, options: LazaretOptions = {}) {
    const lazaret = createLazaret(options)
    this.lazaret = lazaret
    this.#parking = parking
    this.#pools = 'warmUp' in lazaret ? (lazaret as Lazaret & Pools) : undefined
  }

  get isWarm(): boolean {
    return this.#pools !== undefined
  }

  /** How a row of it is called. */
  get name(): string {
    return `lazaret ${this.#parking.runtime}, ${this.isWarm ? 'warm' : 'cold: no pools yet'}`
  }

  /** Resolves when the workers stand parked. */
  settle = async (): Promise<void> => {
    await this.#pools?.warmUp(this.#parking)
  }

  /** Resolves when at least `count` workers stand parked. */
  grow = async (count: number): Promise<void> => {
    await this.#pools?.warmUp({ ...this.#parking, count })
  }

  /** One run, and what was wrong with it. */
  async run(request: RunRequest, expected: string): Promise<string | undefined> {
    return faultOf(await this.lazaret.run(request), expected)
  }

  /** One run that must be right. Milliseconds. */
  async time(request: RunRequest, expected: string): Promise<number> {
    const start = performance.now()
    const result = await this.lazaret.run(request)
    const ms = performance.now() - start
    const fault = faultOf(result, expected)
    if (fault !== undefined) throw new Error(`A turn of ${this.name} ${fault}.`)
    return ms
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lazaret[Symbol.asyncDispose]()
  }
}
