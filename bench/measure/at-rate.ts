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

/** `run` returns what was wrong, if anything. The number of a run is unique within the slice. */
export async function atRate(
  { perSecond, ms }: Rate,
  run: (number: number) => Promise<string | undefined>,
): Promise<RateLoad> {
  const times: number[] = []
  const wrong: string[] = []
  const once = async (number: number): Promise<void> => {
    const start = performance.now()
    const fault = await run(number).catch(
      (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`,
    )
    if (fault === undefined) times.push(performance.now() - start)
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
