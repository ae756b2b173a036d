/** Throughput side by side: a fixed number of runs in flight for a slice of time, with slices of all contestants in turn. */
import { isInterrupted, throwIfInterrupted } from './interruption.ts'
import { judgeRows } from './judge.ts'
import { sampleOtherWork } from './other-work.ts'
import { halfRange, summarize } from './statistics.ts'
import type { Figures, Row } from '../table.ts'

export interface Load {
  /** Milliseconds of each run. */
  readonly times: readonly number[]
  /** From the first start to the last end. */
  readonly elapsedMs: number
  /** Runs that were cheaper because of a worker that was parked before the slice and not replaced by its end. */
  readonly fromStock?: number
  /** What was wrong with incorrect runs; a bounded list. */
  readonly wrong: readonly string[]
}

export interface Slice {
  readonly inFlight: number
  /** No run starts after this; each place has at least one run. */
  readonly ms: number
}

export interface Contestant {
  readonly name: string
  sustain(slice: Slice): Promise<Load>
  /** Waits until it has no work in the background; not timed. */
  settle?(): Promise<void>
}

/** More would only repeat the same problem. */
const wrongMax = 5

/** Keeps runs in flight from this process. `run` returns what was wrong, if anything. */
export async function sustain(
  { inFlight, ms }: Slice,
  run: () => Promise<string | undefined>,
): Promise<Load> {
  const times: number[] = []
  const wrong: string[] = []
  const startMs = performance.now()
  const keepBusy = async (): Promise<void> => {
    do {
      const start = performance.now()
      const fault = await run().catch(
        (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`,
      )
      if (fault === undefined) times.push(performance.now() - start)
      else if (wrong.length < wrongMax) wrong.push(fault)
    } while (performance.now() - startMs < ms && !isInterrupted())
  }
  await Promise.all(Array.from({ length: inFlight }, keepBusy))
  return { times, elapsedMs: performance.now() - startMs, wrong }
}

export interface Sustained extends Row {
  readonly inFlight: number
  readonly wrong: readonly string[]
}

/** Slices per contestant and level: fewer show no spread, and more would be too short. */
const slicesPerLevel = 3

/** All contestants at one level, in alternating slices. The first is Lazaret. */
export async function alternate(
  contestants: readonly Contestant[],
  { inFlight, seconds }: { readonly inFlight: number; readonly seconds: number },
): Promise<Sustained[]> {
  const slice = { inFlight, ms: (seconds * 1000) / slicesPerLevel }
  const settle = async (): Promise<void> => {
    for (const contestant of contestants) await contestant.settle?.()
  }
  const loads = contestants.map((): Load[] => [])
  await settle()
  const before = await sampleOtherWork()
  for (let round = 0; round < slicesPerLevel; round++) {
    for (let place = 0; place < contestants.length; place++) {
      const index = (place + round) % contestants.length
      throwIfInterrupted()
      await settle()
      const load = await contestants[index]?.sustain(slice)
      if (load !== undefined) loads[index]?.push(load)
    }
  }
  throwIfInterrupted()
  await settle()
  const otherWork = Math.max(before, await sampleOtherWork())
  const rows = contestants.map(({ name }, index) => ({ name, figures: figuresOf(loads[index] ?? []) }))
  return judgeRows(rows, { figure: 'runs/s', better: 'higher', otherWork }).map((row, index) => ({
    ...row,
    inFlight,
    wrong: (loads[index] ?? []).flatMap(({ wrong }) => wrong).map((fault) => `${row.name}: ${fault}`),
  }))
}

function figuresOf(loads: readonly Load[]): Figures {
  const times = loads.flatMap((load) => load.times)
  const elapsedMs = loads.reduce((sum, load) => sum + load.elapsedMs, 0)
  const { p50 = 0, p95 = 0, p99 = 0 } = summarize(times)
  const rateOf = (runs: number, ms: number) => (Math.max(0, runs) / ms) * 1000
  const paid = (load: Load): number => load.times.length - (load.fromStock ?? 0)
  const rates = loads.map((load) => rateOf(paid(load), load.elapsedMs))
  return {
    'runs/s': rateOf(
      loads.reduce((sum, load) => sum + paid(load), 0),
      elapsedMs,
    ),
    '±': halfRange(rates),
    'p50 ms': p50,
    'p95 ms': p95,
    'p99 ms': p99,
  }
}
