/** Runs programs in every way, and explains what differs by the table of documented differences. */
import { inspect, isDeepStrictEqual } from 'node:util'

import { differences } from './differences.ts'
import type { Difference } from './differences.ts'
import { ways } from './program.ts'
import type { Engine, Program, Way } from './program.ts'
import { compare, expectedOf } from './seen.ts'
import type { Seen, Unequal } from './seen.ts'
import type { Ways } from './ways.ts'

/** One field in which a way differs from the cold start. */
export interface Finding extends Unequal {
  readonly program: Program
  readonly way: Way
  /** All of the cold start, and all of this way. */
  readonly cold: Seen
  readonly seen: Seen
}

export interface Tally {
  readonly programs: number
  /** How many programs ran in each way, besides their cold start. */
  readonly ran: Readonly<Record<Way, number>>
  readonly undocumented: readonly Finding[]
  /** Fields that differ from one time to the next, so that nothing can be compared. */
  readonly unsteady: readonly Finding[]
  /** How many differences each row has explained. */
  readonly applied: ReadonlyMap<Difference, number>
}

/** Programs at a time: more than a small machine has processors, because a start mostly waits. */
const concurrency = 3

export async function judgeAll(
  opened: Ways,
  programs: readonly Program[],
  onUndocumented: (finding: Finding) => void = () => undefined,
): Promise<Tally> {
  const ran = Object.fromEntries(ways.map((way) => [way, 0])) as Record<Way, number>
  const undocumented: Finding[] = []
  const unsteady: Finding[] = []
  const applied = new Map<Difference, number>()
  const waiting = programs.values()
  const work = async (): Promise<void> => {
    for (const program of waiting) {
      const { findings, tried } = await runEverywhere(opened, program, ways)
      for (const way of tried) ran[way]++
      for (const finding of findings) {
        const rows = explain(finding)
        for (const row of rows) applied.set(row, (applied.get(row) ?? 0) + 1)
        if (rows.length > 0) continue
        if (await isSteady(opened, finding)) {
          undocumented.push(finding)
          onUndocumented(finding)
        } else unsteady.push(finding)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { programs: programs.length, ran, undocumented, unsteady, applied }
}

/** The fields in which each way differs from the cold start, documented or not. */
export async function runEverywhere(
  opened: Ways,
  program: Program,
  wanted: readonly Way[],
): Promise<{ findings: Finding[]; tried: Way[] }> {
  const cold = await opened.runCold(program)
  const findings: Finding[] = []
  const tried: Way[] = []
  for (const way of wanted) {
    const seen = await opened.run(program, way).catch((error: unknown): Seen => ({ refused: inspect(error) }))
    if (seen === undefined) continue
    tried.push(way)
    const unequal = compare(expectedOf(cold, way), seen)
    findings.push(...unequal.map((one) => ({ ...one, program, way, cold, seen })))
  }
  return { findings, tried }
}

/** The rows that together explain it: none if it is undocumented. */
export function explain(finding: Finding): readonly Difference[] {
  const { program, way, field } = finding
  const rows = differences.filter(
    (row) =>
      row.ways.includes(way) &&
      row.engines.includes(program.engine) &&
      row.fields.includes(field) &&
      (row.when === undefined || row.when(finding)),
  )
  let [expected, got] = [textOf(finding.expected), textOf(finding.got)]
  const used: Difference[] = []
  for (const row of rows) {
    if (row.as === undefined) return [row]
    const [one, other] = [row.as(expected), row.as(got)]
    if (one === expected && other === got) continue
    ;[expected, got] = [one, other]
    used.push(row)
    if (expected === got) return used
  }
  return []
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The rows for these engines that have explained nothing. */
export function unusedRows({ applied }: Tally, engine: Engine): Difference[] {
  return differences.filter((row) => row.engines.includes(engine) && !applied.has(row))
}

/** Whether it shows again, and two more cold starts are alike: the way differs, and not the program from one time to the next. */
async function isSteady(opened: Ways, { program, way, field }: Finding): Promise<boolean> {
  const other = expectedOf(await opened.runCold(program), way)
  const { findings } = await runEverywhere(opened, program, [way])
  const again = findings.find((one) => one.field === field)
  return again !== undefined && isDeepStrictEqual(again.expected, other[field])
}
