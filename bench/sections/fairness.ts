/**
 * A light client beside one that floods the machine with endless programs: how long it waits, compared with being
 * alone.
 */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

import type { RunRequest } from '../../src/core/request.ts'
import type { Lazaret } from '../../src/engine/api.ts'
import { createLazaret } from '../../src/engine/lazaret.ts'
import { throwIfInterrupted } from '../measure/interruption.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import { goalAtMost } from '../table.ts'
import type { Table } from '../table.ts'
import { faultOf, Workloads } from '../workloads.ts'
import type { Workload } from '../workloads.ts'

const flooding = 60
/** Long enough for the pool to park its next worker before the next run. */
const restMs = 30
/** About the time slice of a process when others want its processor. */
const sliceMs = 100
const spinning: RunRequest = {
  language: 'shell',
  code: 'while :; do :; done',
  client: 'flood',
  limits: { wallMs: 600_000 },
}

export async function benchFairness({ turns }: BenchOptions): Promise<Table[]> {
  using workloads = new Workloads()
  const tables: Table[] = []
  for (const workload of workloads.all()) tables.push(await compareBoth(workload, turns))
  return tables
}

async function compareBoth(workload: Workload, turns: number): Promise<Table> {
  const { runtime } = workload
  await using lazaret = createLazaret({ onEvent: () => undefined })
  const wrong: string[] = []
  progress(`fairness: ${runtime} alone`)
  const alone = await beLight(lazaret, { workload, turns, wrong })
  const flood = new AbortController()
  const floods = Array.from({ length: flooding }, () => lazaret.run({ ...spinning, signal: flood.signal }))
  try {
    await pause(10 * restMs)
    progress(`fairness: ${runtime} beside ${flooding} that spin`)
    const beside = await beLight(lazaret, { workload, turns, wrong })
    const [before, after] = [summarize(alone), summarize(beside)]
    const [once = 0, twice = 0] = [before['p95'], after['p95']]
    return {
      title: `${runtime}: one client beside another with ${flooding} endless programs`,
      unit: 'ms',
      load: loadavg()[0] ?? 0,
      rows: [
        { name: 'alone', figures: before },
        { name: 'beside the flood', figures: after },
      ],
      goals: [goalAtMost(`p95 ≤ 2 × its p95 alone and one slice (${sliceMs} ms)`, twice, 2 * once + sliceMs)],
      notes: [`${lazaret.stats().waiting} of the flood waited`],
      wrong,
    }
  } finally {
    flood.abort()
    await Promise.allSettled(floods)
  }
}

interface Light {
  readonly workload: Workload
  readonly turns: number
  readonly wrong: string[]
}

async function beLight(
  lazaret: Lazaret,
  { workload: { request, expected }, turns, wrong }: Light,
): Promise<number[]> {
  const times: number[] = []
  const once = async () => {
    throwIfInterrupted()
    const start = performance.now()
    const result = await lazaret.run({ ...request, client: 'light' })
    const time = performance.now() - start
    const fault = faultOf(result, expected)
    if (fault !== undefined) wrong.push(fault)
    await pause(restMs)
    return time
  }
  // A pool begins at the second run of a kind.
  for (let turn = 0; turn < 3; turn++) await once()
  for (let turn = 0; turn < turns; turn++) times.push(await once())
  return times
}
