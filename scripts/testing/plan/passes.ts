/** Which tests run when and as whom, and how many of them may be skipped. */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'

import type { Lacking } from '../../../test/support/hosts/without-layer.ts'
import { isBelow, levelsOf } from './levels.ts'
import type { Level } from './levels.ts'
import { notDaily } from './not-daily.ts'

export interface Pass {
  readonly name: string
  readonly files: readonly string[]
  /** Run as this user instead of as the user who started the runner. */
  readonly userId?: number
  /** Run by the oldest supported Node instead of by this one. */
  readonly isOnOldest?: boolean
  /** Guests are forks of a zygote where possible: test/support/in-forks.ts. */
  readonly isInForks?: boolean
  /** What the kernel refuses to everything in this pass. */
  readonly lacking?: readonly Lacking[]
  /**
   * More skips than this fail the pass, because a suite that quietly stops running is worse than one that fails. Skips that a
   * missing optional package excuses do not count. Raise it only together with the test that adds a skip.
   */
  readonly skippedMax: number
  /** The whole pass may take this long. (A test that holds a descriptor or a timer keeps its file from ending.) */
  readonly wallMs: number
  /** How many files run at one time. */
  readonly processes: number
  /** Whether failed files run a second time, alone, if they are few. */
  readonly mayFailOnce?: boolean
}

/**
 * `daily`: the tests that a change needs, as the user who started the runner. `rest`: everything else; together the two leave
 * nothing out and run nothing twice. `wide`: also the suites that rarely find anything. `oldest`: only tests on the oldest
 * Node.
 */
export type Tier = 'daily' | 'rest' | 'wide' | 'oldest'

export interface Wanted {
  readonly tier: Tier
  /** Only these files, and files below these folders. */
  readonly filters: readonly string[]
  readonly isRoot: boolean
}

/** An id that no usual distribution assigns. Not `nobody`, who may own files. */
const plainUserId = 65_533

/** The same tests with more rounds, values and modules. They take minutes and rarely find anything. */
const wide = ['test-deep/wide/']

/** Even on a machine with a compiler, Python, Bun, git and cgroups, a few cases cannot run. */
const rootSkippedMax = { daily: 6, rest: 4 }
/** Without cgroups and separate ids, the cases about these have nothing to inspect. */
const plainUserSkippedMax = 27
/** Without namespaces, tests check what replaces them. The remaining skips are those above, except for cgroups of containers. */
const withoutNamespacesSkippedMax = { root: 15, plainUser: 23 }

const minute = 60_000

export function planPasses(wanted: Wanted): Pass[] {
  const planned = planLevels(wanted)
  const found = findFiles(wanted.filters)
  const passes = planned.flatMap(({ level, choose, ...common }) => {
    const files = found.filter((file) => levelsOf(file).includes(level) && choose(file))
    // A run of a few named files reports each failure.
    const pass = { ...common, wallMs: 30 * minute, mayFailOnce: wanted.filters.length === 0 }
    const together: Pass = {
      ...pass,
      files: files.filter((file) => !isAboutTime(file)),
      processes: processesAtOnce,
    }
    const alone: Pass = {
      ...pass,
      name: `${pass.name}, one by one`,
      files: files.filter(isAboutTime),
      processes: 1,
    }
    return [together, alone]
  })
  return passes.filter(({ files }) => files.length > 0)
}

/** Files spend half of their time waiting, so fewer of them would leave processors idle. */
const processesAtOnce = Math.min(6, 3 * availableParallelism())

/** Tests that measure time run when nothing else does. */
function isAboutTime(file: string): boolean {
  return file.endsWith('.timing.test.ts')
}

interface PlannedLevel extends Omit<Pass, 'files' | 'wallMs' | 'processes'> {
  readonly level: Level
  readonly choose: (file: string) => boolean
}

function planLevels({ tier, filters, isRoot }: Wanted): PlannedLevel[] {
  const isDaily = (file: string) => !isBelow(file, notDaily)
  // A file named on the command line always runs.
  const isMeant = (file: string) =>
    tier === 'wide' || !isBelow(file, wide) || filters.some((one) => isBelow(one, wide))
  const started = {
    level: 'started',
    name: isRoot ? 'as root' : 'as a plain user',
    skippedMax: isRoot ? rootSkippedMax[tier === 'daily' ? 'daily' : 'rest'] : plainUserSkippedMax,
  } as const
  if (tier === 'daily') return [{ ...started, choose: (file) => isDaily(file) || filters.length > 0 }]
  const onOldest = planOnOldest(isRoot)
  if (tier === 'oldest') return onOldest
  const late = {
    ...started,
    name: `${started.name}, the rest`,
    choose: (file: string) => !isDaily(file) && isMeant(file),
  }
  return [late, ...planOtherLevels(isRoot), ...onOldest].map((one) => ({
    ...one,
    choose: (file) => one.choose(file) && isMeant(file),
  }))
}

function planOtherLevels(isRoot: boolean): PlannedLevel[] {
  const asPlainUser = isRoot ? { userId: plainUserId } : {}
  const who = isRoot ? `as uid ${plainUserId}` : 'as a plain user'
  const plain: PlannedLevel = {
    level: 'plain user, without namespaces',
    name: `${who}, without namespaces`,
    choose: () => true,
    ...asPlainUser,
    lacking: ['user-namespaces'],
    skippedMax: withoutNamespacesSkippedMax.plainUser,
  }
  const inForks = { choose: () => true, isInForks: true }
  const started: PlannedLevel = {
    ...inForks,
    level: 'started, in forks',
    name: `${isRoot ? 'as root' : who}, in forks`,
    skippedMax: isRoot ? rootSkippedMax.rest : plainUserSkippedMax,
  }
  if (!isRoot) return [plain, started]
  return [
    started,
    {
      ...inForks,
      ...asPlainUser,
      level: 'plain user, in forks',
      name: `${who}, in forks`,
      skippedMax: plainUserSkippedMax,
    },
    {
      level: 'plain user',
      name: who,
      choose: () => true,
      ...asPlainUser,
      skippedMax: plainUserSkippedMax,
    },
    {
      level: 'started, without namespaces',
      name: 'as root, without namespaces',
      choose: () => true,
      lacking: ['user-namespaces', 'sys-admin'],
      skippedMax: withoutNamespacesSkippedMax.root,
    },
    plain,
  ]
}

function planOnOldest(isRoot: boolean): PlannedLevel[] {
  const started: PlannedLevel = {
    level: 'started, on the oldest Node',
    name: `${isRoot ? 'as root' : 'as a plain user'}, on the oldest Node`,
    choose: () => true,
    isOnOldest: true,
    skippedMax: isRoot ? rootSkippedMax.rest : plainUserSkippedMax,
  }
  if (!isRoot) return [started]
  const plain: PlannedLevel = {
    level: 'plain user, on the oldest Node',
    name: `as uid ${plainUserId}, on the oldest Node`,
    choose: () => true,
    userId: plainUserId,
    isOnOldest: true,
    skippedMax: plainUserSkippedMax,
  }
  return [started, plain]
}

/** The test files that the filters name, or that are below a named folder; without filters, all of them. */
function findFiles(filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => relative(process.cwd(), resolve(filter)))
  const files = globSync(['test/**/*.test.ts', 'test-deep/**/*.test.ts']).sort()
  if (wanted.length === 0) return files
  return files.filter((file) => wanted.some((filter) => file === filter || file.startsWith(`${filter}/`)))
}
