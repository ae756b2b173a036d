/**
 * Which tests run how often. Nothing here names files one by one: a tier has a budget of processor time, and what was measured
 * (`test/timings.json`) fills it, the cheapest tests first.
 *
 * - `daily`: `npm test`.
 * - `landing`: also before each landing, `npm test -- --ci`.
 * - `long`: `npm run test:all`, before a release.
 * - `wide`: `npm run test:all -- --wide`.
 */
import { isBelow, levelsOf } from './levels.ts'
import type { Level } from './levels.ts'
import type { Timing, Timings } from './timings.ts'
import { mutations } from '../../mutating/mutations.ts'

export type FileTier = 'daily' | 'landing' | 'long' | 'wide'

/**
 * Processor seconds as test processes count them on the machine of `test/timings.json`. The machine spends a third more, because
 * nobody waits for the processes of a cell that is killed. Two processors work 1.4 such seconds in a second.
 */
const budgetMs = {
  /** With the static checks, 90 seconds. */
  daily: 72_000,
  landing: 440_000,
}

/** What the levels other than `started` may cost before a landing that touches walls. */
const levelBudgetMs: Readonly<Partial<Record<Level, number>>> = {
  'plain user': 33_000,
  'plain user, without namespaces': 30_000,
  'started, without namespaces': 10_000,
  'started, in forks': 15_000,
  'started, on the oldest Node': 12_000,
}

/** A file that costs more is not for every day, however many tests it has. */
const dailyFileMs = 1000

/** Too important to wait for a landing: what they attack is what everything else relies on. */
const securityCore = [
  'test/escape/kernel/setuid',
  'test/escape/limits/fork-bomb',
  'test/escape/outcome/forged-frames',
  'test/jail/cell/zygote.test',
  'test/sandbox/commands/exec.test',
]

/**
 * Each attack, one implementation of each contract, and what notices the deliberate defects of `npm run mutate` are tried before
 * each landing, whatever they cost.
 */
const alwaysBeforeLanding = [
  'test/escape/',
  'test/contracts/runtimes',
  ...mutations.flatMap(({ caughtBy }) => caughtBy),
]

/** Its files run long, or try random input. */
const longFolder = 'test-deep/'
const wideFolder = 'test-deep/wide/'

/** At other levels only tests of walls run before a landing. */
const aboutWalls = [
  'test/escape/',
  'test/jail/',
  'test/contracts/',
  'test/sandbox/lifecycle/',
  'test/engine/runs/',
]

export function planTiers(files: readonly string[], timings: Timings): ReadonlyMap<string, FileTier> {
  const candidates = files.filter((file) => !isBelow(file, [longFolder]))
  const isCheap = (file: string) => !isAboutTime(file) && (timings[file]?.ms ?? 0) <= dailyFileMs
  const daily = fill(candidates, timings, {
    limitMs: budgetMs.daily,
    isSure: (file) => isBelow(file, securityCore),
    isMeant: isCheap,
  })
  const landing = fill(
    candidates.filter((file) => !daily.has(file)),
    timings,
    { limitMs: budgetMs.landing, isSure: (file) => isBelow(file, alwaysBeforeLanding), isMeant: () => true },
  )
  const tierOf = (file: string): FileTier => {
    if (isBelow(file, [wideFolder])) return 'wide'
    if (daily.has(file)) return 'daily'
    return landing.has(file) ? 'landing' : 'long'
  }
  return new Map(files.map((file) => [file, tierOf(file)]))
}

/** The files that run at another level before a landing that touches walls. */
export function filesBeforeLanding(
  level: Level,
  { files, timings }: { readonly files: readonly string[]; readonly timings: Timings },
): ReadonlySet<string> {
  const limitMs = levelBudgetMs[level] ?? 0
  const isMeant = (file: string) =>
    levelsOf(file).includes(level) &&
    !isBelow(file, [longFolder]) &&
    (level.endsWith('Node') || isBelow(file, aboutWalls))
  return limitMs === 0 ? new Set() : fill(files, timings, { limitMs, isMeant, isSure: () => false })
}

/** Tests that measure time run when nothing else does. */
export function isAboutTime(file: string): boolean {
  return file.endsWith('.timing.test.ts')
}

interface Filling {
  readonly limitMs: number
  readonly isSure: (file: string) => boolean
  readonly isMeant: (file: string) => boolean
}

/** The sure files, those that were never measured, and the cheapest of the others that fit. */
function fill(
  files: readonly string[],
  timings: Timings,
  { limitMs, isSure, isMeant }: Filling,
): ReadonlySet<string> {
  const costMs = (file: string) => timings[file]?.ms ?? 0
  const sure = files.filter((file) => isSure(file) || (timings[file] === undefined && isMeant(file)))
  let leftMs = limitMs - sure.reduce((sum, file) => sum + costMs(file), 0)
  const others = files.filter((file) => !sure.includes(file) && isMeant(file))
  const cheapest = others.toSorted((a, b) => msPerCase(timings[a]) - msPerCase(timings[b]))
  const fitting = cheapest.filter((file) => {
    const fits = costMs(file) <= leftMs
    if (fits) leftMs -= costMs(file)
    return fits
  })
  return new Set([...sure, ...fitting])
}

function msPerCase(timing: Timing | undefined): number {
  return timing === undefined ? 0 : timing.ms / Math.max(1, timing.cases)
}
