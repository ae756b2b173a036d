/** Runs per second at 1, 8 and 50 in flight, against unjailed starts of the same interpreter. Every run must be correct. */
import { loadavg } from 'node:os'

import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { LongLivedRival } from '../rivals/long-lived.ts'
import { runPlain } from '../rivals/plain.ts'
import { alternate, sustain } from '../measure/sustain.ts'
import type { Contestant, Sustained } from '../measure/sustain.ts'
import { goalAtLeast, skippedTable } from '../table.ts'
import type { Goal, Row, Table } from '../table.ts'
import { WarmLazaret } from '../warm-lazaret.ts'
import { toolchains, Workloads } from '../workloads.ts'
import type { Workload } from '../workloads.ts'

/** Parked workers at the start of a slice. For each one that is missing at its end, one run is not counted. */
const stock = 8

export async function benchThroughput(options: BenchOptions): Promise<Table[]> {
  using workloads = new Workloads()
  const tables: Table[] = []
  for (const workload of workloads.all()) tables.push(await compareThroughput(workload, options))
  return tables
}

async function compareThroughput(
  workload: Workload,
  { seconds, inFlight: levels }: BenchOptions,
): Promise<Table> {
  const { runtime, command, request, expected } = workload
  const title = `${runtime}: runs per second, ${seconds} s each in alternating slices`
  if (command === null) return skippedTable(title, `there is no ${runtime} on this machine.`)
  await using warm = new WarmLazaret({ language: request.language, runtime, count: stock })
  const run = () => warm.run(request, expected)
  const ours: Contestant = {
    name: warm.name,
    settle: warm.settle,
    sustain: async (slice) => {
      const before = warm.parked
      const load = await sustain(slice, run)
      return { ...load, fromStock: Math.max(0, before - warm.parked) }
    },
  }
  await using reference = startReference(workload)
  const contestants = [
    ours,
    ...(reference === undefined ? [] : [reference]),
    spawnedByNode(workload, command),
  ]
  const measured: Sustained[] = []
  for (const inFlight of levels) {
    progress(`${runtime}: throughput, ${inFlight} in flight`)
    measured.push(...(await alternate(contestants, { inFlight, seconds })))
  }
  const rows = nameRows(measured)
  return {
    title,
    unit: '',
    load: loadavg()[0] ?? 0,
    rows,
    goals: runtime === 'bun' || runtime === 'node' ? goalsAgainstBun(rows) : [],
    notes: [
      ...warm.notes(),
      `p99/ideal: the ideal is ${levels.at(-1) ?? 1} in flight ÷ the contestant's best runs/s at any level.`,
    ],
    wrong: measured.flatMap(({ wrong }) => wrong),
  }
}

/** Rivals that start an interpreter for each run from a long-lived process, as services without a jail do. */
function startReference({ runtime, command, expected }: Workload): LongLivedRival | undefined {
  if (command === null) return undefined
  const work = { command, expected }
  if (runtime === 'python') return LongLivedRival.python('Python subprocess, threads', command[0], work)
  const bun = toolchains.bun()
  return bun === null ? undefined : LongLivedRival.bun(`Bun.spawn of ${runtime}`, bun, work)
}

function spawnedByNode(
  { runtime, expected }: Workload,
  [file, ...args]: readonly [string, ...string[]],
): Contestant {
  const run = async (): Promise<string | undefined> => {
    const printed = (await runPlain(file, args)).trim()
    return printed === expected ? undefined : `printed ${JSON.stringify(printed.slice(0, 100))}`
  }
  return { name: `Node spawn of ${runtime}`, sustain: (slice) => sustain(slice, run) }
}

/** The rows of all measurements. Those at the highest level also have the distance of their p99 from the ideal. */
function nameRows(measured: readonly Sustained[]): Row[] {
  const levelMax = Math.max(...measured.map(({ inFlight }) => inFlight))
  return measured.map(({ name, inFlight, figures, verdict }): Row => {
    const rates = measured.filter((other) => other.name === name).map((other) => other.figures['runs/s'] ?? 0)
    const idealMs = (levelMax / Math.max(...rates)) * 1000
    const toIdeal = inFlight === levelMax ? { 'p99/ideal': (figures['p99 ms'] ?? Number.NaN) / idealMs } : {}
    return {
      name: `${inFlight} in flight: ${name}`,
      figures: { ...figures, ...toIdeal },
      ...(verdict === undefined ? {} : { verdict }),
    }
  })
}

function goalsAgainstBun(rows: readonly Row[]): Goal[] {
  return rows
    .filter(({ name }) => name.includes(': Bun.spawn'))
    .map(({ name, verdict }) => goalAtLeast(`runs/s ≥ 0.65 × ${name}`, verdict?.ratio ?? Number.NaN, 0.65))
}
