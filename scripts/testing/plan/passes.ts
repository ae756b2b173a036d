/** Which tests run when and as whom. */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'

import type { Lacking } from '../../../test/support/hosts/without-layer.ts'
import type { Change } from './changes.ts'
import { levelsOf } from './levels.ts'
import type { Level } from './levels.ts'
import { filesBeforeLanding, isAboutTime, planTiers } from './tiers.ts'
import type { FileTier } from './tiers.ts'
import { readTimings } from './timings.ts'
import type { Timings } from './timings.ts'

export interface Pass {
  readonly name: string
  readonly level: Level
  readonly files: readonly string[]
  /** Run as this user instead of as the user who started the runner. */
  readonly userId?: number
  /** Run by the oldest supported Node instead of by this one. */
  readonly isOnOldest?: boolean
  /** Guests are forks of a zygote where possible: test/support/in-forks.ts. */
  readonly isInForks?: boolean
  /** What the kernel refuses to everything in this pass. */
  readonly lacking?: readonly Lacking[]
  /** The whole pass may take this long. (A test that holds a descriptor or a timer keeps its file from ending.) */
  readonly wallMs: number
  /** How many files run at one time. */
  readonly processes: number
  /** Whether files may fail once: see run-again.ts. A run of a few named files reports each failure. */
  readonly mayFailOnce: boolean
}

/** What was asked for: `npm test`, or its options. `again` runs what failed the last time. */
export type Run = 'daily' | 'ci' | 'all' | 'wide' | 'oldest' | 'again'

export interface Wanted {
  readonly run: Run
  /** Only these files, and files below these folders. */
  readonly filters: readonly string[]
  readonly isRoot: boolean
  /** For `ci`. */
  readonly change?: Change
  /** For `again`: the files by level. */
  readonly failed?: Readonly<Partial<Record<Level, readonly string[]>>>
}

/** An id that no usual distribution assigns. Not `nobody`, who may own files. */
const plainUserId = 65_533

const minute = 60_000

/** Files spend half of their time waiting, so fewer of them would leave processors idle. */
const processesAtOnce = Math.min(6, 3 * availableParallelism())

export function planPasses(wanted: Wanted): Pass[] {
  const files = findFiles(wanted.filters)
  const everything = wanted.filters.length === 0 ? files : findFiles([])
  const chosen = chooseFiles(wanted, everything)
  return Object.entries(situations(wanted.isRoot)).flatMap(([level, situation]) => {
    const inLevel = chosen[level as Level] ?? []
    return inLevel.flatMap(({ files: some, part }) =>
      passesOf(
        { level: level as Level, ...situation, name: `${situation.name}${part}` },
        some.filter((file) => files.includes(file)),
        wanted,
      ),
    )
  })
}

type Situation = Omit<Pass, 'level' | 'files' | 'wallMs' | 'processes' | 'mayFailOnce'>

/** Tests that measure time run one by one, after the others. */
function passesOf(
  situation: Situation & { readonly level: Level },
  files: readonly string[],
  { filters, run }: Wanted,
): Pass[] {
  const common = { ...situation, wallMs: 30 * minute, mayFailOnce: filters.length === 0 && run !== 'again' }
  const together: Pass = {
    ...common,
    files: files.filter((file) => !isAboutTime(file)),
    processes: processesAtOnce,
  }
  const alone: Pass = {
    ...common,
    name: `${common.name}, one by one`,
    files: files.filter(isAboutTime),
    processes: 1,
  }
  return [together, alone].filter((pass) => pass.files.length > 0)
}

interface Portion {
  readonly files: readonly string[]
  /** Added to the name of the pass. */
  readonly part: string
}

type Chosen = Readonly<Partial<Record<Level, readonly Portion[]>>>

function chooseFiles(wanted: Wanted, files: readonly string[]): Chosen {
  const timings = readTimings()
  const tiers = planTiers(files, timings)
  // A file named on the command line always runs.
  const isNamed = (file: string) => wanted.filters.some((one) => file === one || file.startsWith(`${one}/`))
  const among = (...some: readonly FileTier[]) =>
    files.filter((file) => some.includes(tiers.get(file) ?? 'long') || isNamed(file))
  switch (wanted.run) {
    case 'daily':
      return { started: [whole(wanted.filters.length > 0 ? files : among('daily'))] }
    case 'ci':
      return chooseForLanding({ files, timings, tiers, change: wanted.change })
    case 'all':
      return atEachLevel(among('daily', 'landing', 'long'))
    case 'wide':
      return atEachLevel(files)
    case 'oldest': {
      const { [oldest[0]]: started = [], [oldest[1]]: plain = [] } = atEachLevel(
        among('daily', 'landing', 'long'),
      )
      return { [oldest[0]]: started, [oldest[1]]: plain }
    }
    case 'again':
      return Object.fromEntries(
        Object.entries(wanted.failed ?? {}).map(([level, some]) => [level, [whole(some)]]),
      )
  }
}

const oldest = ['started, on the oldest Node', 'plain user, on the oldest Node'] as const

const whole = (files: readonly string[]): Portion => ({ files, part: '' })

function atEachLevel(files: readonly string[]): Chosen {
  const at = (level: Level) => [whole(files.filter((file) => levelsOf(file).includes(level)))]
  return Object.fromEntries(Object.keys(situations(true)).map((level) => [level, at(level as Level)]))
}

interface Landing {
  readonly files: readonly string[]
  readonly timings: Timings
  readonly tiers: ReadonlyMap<string, FileTier>
  readonly change: Change | undefined
}

/** The tests before a landing. What `npm test` runs comes first, because most defects show there. */
function chooseForLanding({ files, timings, tiers, change }: Landing): Chosen {
  const { kind, paths = [] } = change ?? { kind: 'walls', paths: [] }
  if (kind === 'pages') return { started: [whole(files.filter(isAboutCheckout))] }
  const touched = new Set(files.filter((file) => isTestOf(file, paths)))
  const daily = files.filter((file) => tiers.get(file) === 'daily')
  const others = files.filter((file) => tiers.get(file) === 'landing' || touched.has(file))
  const rest = { files: others.filter((file) => !daily.includes(file)), part: ', before a landing' }
  const started = [whole(daily), rest]
  if (kind === 'source') return { started }
  const levels = Object.keys(situations(true)).filter((level) => level !== 'started') as Level[]
  const at = (level: Level) => [whole([...filesBeforeLanding(level, { files, timings })].sort())]
  return { started, ...Object.fromEntries(levels.map((level) => [level, at(level)])) }
}

/** The tests of pages, of the package and of the sources as a whole stand at the top of the folder. */
function isAboutCheckout(file: string): boolean {
  return /^test\/[^/]+$/.test(file)
}

/** A changed test, or the tests of a changed file: test/ mirrors src/. */
function isTestOf(file: string, paths: readonly string[]): boolean {
  const subject = file.replace(/^test\//, 'src/').replace(/\.test\.ts$/, '.ts')
  return paths.some((path) => path === file || path === subject)
}

/** How tests run at each level, in the order of the passes. */
function situations(isRoot: boolean): Readonly<Partial<Record<Level, Situation>>> {
  const asPlainUser = isRoot ? { userId: plainUserId } : {}
  const started = isRoot ? 'as root' : 'as a plain user'
  const plain = isRoot ? `as uid ${plainUserId}` : started
  const withoutNamespaces = { ...asPlainUser, lacking: ['user-namespaces'] } as const
  const forUser: Readonly<Partial<Record<Level, Situation>>> = {
    started: { name: started },
    'started, in forks': { name: `${started}, in forks`, isInForks: true },
    'plain user, without namespaces': { name: `${plain}, without namespaces`, ...withoutNamespaces },
    'started, on the oldest Node': { name: `${started}, on the oldest Node`, isOnOldest: true },
  }
  if (!isRoot) return forUser
  return {
    ...forUser,
    'plain user, in forks': { name: `${plain}, in forks`, ...asPlainUser, isInForks: true },
    'plain user': { name: plain, ...asPlainUser },
    'started, without namespaces': {
      name: `${started}, without namespaces`,
      lacking: ['user-namespaces', 'sys-admin'],
    },
    'plain user, on the oldest Node': {
      name: `${plain}, on the oldest Node`,
      ...asPlainUser,
      isOnOldest: true,
    },
  }
}

/** The test files that the filters name, or that are below a named folder; without filters, all of them. */
export function findFiles(filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => relative(process.cwd(), resolve(filter)))
  const files = globSync(['test/**/*.test.ts', 'test-deep/**/*.test.ts']).sort()
  if (wanted.length === 0) return files
  return files.filter((file) => wanted.some((filter) => file === filter || file.startsWith(`${filter}/`)))
}
