/** Work that begins at a steady rate, whether or not earlier work has ended. */
import { setTimeout as pause } from 'node:timers/promises'

import { throwIfInterrupted } from './interruption.ts'

export interface Rate {
  readonly perSecond: number
  readonly ms: number
}

export interface RateLoad {
  /** Milliseconds of each correct run. */
  readonly times: readonly number[]
  /** What was wrong with the others; a bounded list. */
  readonly wrong: readonly string[]
}

/** More would only repeat the same problem. */
const wrongMax = 5

/** What was wrong with a result, if anything. */
export type Check = () => string | undefined

/**
 * `run` resolves with the check of its result, which does not count as its time. The number of a run is unique within the
 * slice.
 */
export async function atRate(
  { perSecond, ms }: Rate,
  run: (number: number) => Promise<Check>,
): Promise<RateLoad> {
  const times: number[] = []
  const wrong: string[] = []
  const once = async (number: number): Promise<void> => {
    const start = performance.now()
    let tookMs = 0
    const fault = await run(number)
      .then((check) => {
        tookMs = performance.now() - start
        return check()
      })
      .catch((error: unknown) => `${(error as Error).name}: ${(error as Error).message}`)
    if (fault === undefined) times.push(tookMs)
    else if (wrong.length < wrongMax) wrong.push(fault)
  }
  const count = Math.max(1, Math.round((perSecond * ms) / 1000))
  const begun: Promise<void>[] = []
  const startMs = performance.now()
  for (let number = 0; number < count; number++) {
    throwIfInterrupted()
    const dueMs = startMs + (number * 1000) / perSecond - performance.now()
    if (dueMs > 0) await pause(dueMs)
    begun.push(once(number))
  }
  await Promise.all(begun)
  return { times, wrong }
}
