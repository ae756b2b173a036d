/** What each test file costs: `test/timings.json`, recorded by `npm test -- --record`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Timing {
  /** How many tests it has. */
  readonly cases: number
  /** Processor time of its process and all descendants that ended in it, as the user who started the runner. */
  readonly ms: number
}

export type Timings = Readonly<Record<string, Timing>>

const file = join(import.meta.dirname, '../../../test/timings.json')

export function readTimings(): Timings {
  return JSON.parse(readFileSync(file, 'utf8')) as Timings
}

/** A smaller difference is noise, and would change the file with every recording. */
const noise = 0.25
const noiseMs = 100

/** What was known, with what was measured now, and without files that are gone. */
export function mergeTimings(known: Timings, measured: Timings, files: readonly string[]): Timings {
  const merged = files.flatMap((name) => {
    const [before, now] = [known[name], measured[name]]
    const timing = now === undefined || (before !== undefined && isNear(before, now)) ? before : now
    return timing === undefined ? [] : [[name, timing] as const]
  })
  return Object.fromEntries(merged)
}

function isNear(before: Timing, now: Timing): boolean {
  const difference = Math.abs(before.ms - now.ms)
  return before.cases === now.cases && difference <= Math.max(noiseMs, noise * before.ms)
}

export function writeTimings(timings: Timings): void {
  const lines = Object.entries(timings).map(
    ([name, { cases, ms }]) => `  ${JSON.stringify(name)}: { "cases": ${cases}, "ms": ${ms} }`,
  )
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
}
