/** Which tests run as whom, and how many of them may be skipped. */
import { globSync } from 'node:fs'
import { relative, resolve } from 'node:path'

import type { Lacking } from '../../test/support/without-layer.ts'

export interface Pass {
  readonly name: string
  readonly files: readonly string[]
  /** Run as this user instead of as the one who started the runner. */
  readonly userId?: number
  /** Run by the oldest Node that is promised, instead of by this one. */
  readonly isOnOldest?: boolean
  /** What the machine is without for everything in this pass, by the kernel's own word. */
  readonly lacking?: readonly Lacking[]
  /**
   * More skips than this fail the pass: a suite that quietly stops running is worse than one that fails.
   * Raise it only together with the test that adds a skip.
   */
  readonly skippedMax: number
  /** Everything together; a test that holds a descriptor or a timer keeps its file from ending. */
  readonly wallMs: number
}

/** Everyone may have this id; nothing on a usual distribution does. It is not `nobody`, whom files may belong to. */
const plainUserId = 65_533

/** What differs for a user who is not root: who may make cells, ids, cgroups, and everything that stands on them. */
const plainUserPlaces = [
  'contracts/',
  'escape/',
  'engine/',
  'jail/',
  'sandbox/',
  'adapters/cli/doctor',
  'adapters/cli/run',
]

/** The same of the suites that take too long for every day. */
const deepPlainUserFiles = [
  'test-deep/databases.test.ts',
  'test-deep/development-tools.test.ts',
  'test-deep/hundred-sandboxes.test.ts',
  'test-deep/fuzz-options.test.ts',
  'test-deep/python-regression.test.ts',
  'test-deep/sandbox-secrets.test.ts',
]

/** `npm test` is for every day and has four minutes: what is wide rather than sharp waits for the deep suite. */
const notDaily = [
  'test/adapters/snippet-tool/memory',
  'test/bench/sections',
  'test/compatibility/',
  'test/conformance/javascript/',
  'test/conformance/python/conformance',
  'test/engine/missing-layers',
  'test/escape/block-the-loop',
  'test/properties/hostile-values',
  'test/properties/round-trip',
  'test/properties/snippet-determinism',
]
const notDailyAsPlainUser = ['test/escape/', 'test/sandbox/', 'test/contracts/parked-runtimes']
/** What of the first list differs for a plain user. */
const aboutPlainUsers = ['test/compatibility/', 'test/engine/missing-layers']

/** The same again with more rounds, more values, more modules: minutes that find little on any one day. */
const wide = 'test-deep/wide'

/** What of every day's tests depends on the Node of the host; the others look at sources, or at what guests are. */
const aboutHosts = [
  ...['adapters', 'core', 'engine', 'jail', 'policy', 'pool', 'result', 'sandbox'].map(
    (name) => `test/${name}/`,
  ),
  'test/examples.test.ts',
]
/** What these tests themselves need of the Node that runs them, which what they test does without. */
const notOnOldest = [
  // It compares with the prompt of that Node, which is to be the guests' own.
  'test/adapters/cli/printed-values',
  // Their clock stands still, or they look at what keeps no process alive, and older runners let one end that waits for
  // nothing else.
  'test/pool/threads.test.ts',
  'test/sandbox/endless-output',
  'test/sandbox/processes',
  // An older Node opens many sources at one time, and here it has no descriptors for that.
  'test/engine/out-of-descriptors',
  // They dispose of what they made with a stack of the language's, or in programs that use its syntax.
  'test/jail/live-ids',
  'test/jail/refused-views',
  'test/sandbox/files/host-opens-nothing',
  'test/jail/zygote',
  'test/engine/refusals',
]

/** On a machine with a compiler, Python, Bun, git and cgroups a few cases still have nothing to run on. */
const rootSkippedMax = 4
/** Without cgroups and ids of their own, the cases about these have nothing to look at. */
const plainUserSkippedMax = 15
/** Without namespaces tests look at what is there instead; what remains is as above, without the cgroups of containers. */
const withoutNamespacesSkippedMax = { root: 6, plainUser: 8 }

const minute = 60_000

export interface Wanted {
  readonly deep: boolean
  /** The wide suites too. */
  readonly all: boolean
  /** On the oldest Node that is promised. */
  readonly oldest: boolean
  /** Nothing but files that are, or lie below, one of these. */
  readonly filters: readonly string[]
  readonly isRoot: boolean
}

export function planPasses(wanted: Wanted): Pass[] {
  const { deep, oldest, filters } = wanted
  const daily = planDaily(wanted)
  if (!deep && !oldest) return daily
  const onOldest = daily.map((pass) => ({
    ...pass,
    name: `on the oldest Node, ${pass.name}`,
    isOnOldest: true,
    wallMs: 30 * minute,
    files: pass.files.filter(
      (file) => filters.length > 0 || (isBelow(file, aboutHosts) && !isBelow(file, notOnOldest)),
    ),
  }))
  return deep ? [...planDeep(wanted), ...(filters.length > 0 ? [] : onOldest)] : onOldest
}

function planDeep({ all, filters, isRoot }: Wanted): Pass[] {
  const everything = find('test/**/*.test.ts', filters)
  const late = everything.filter((file) => isBelow(file, notDaily))
  const isWide = (file: string) => isBelow(file, [wide])
  const isMeant = (file: string) => all || !isWide(file) || filters.some(isWide)
  const files = [...find('test-deep/**/*.test.ts', filters).filter(isMeant), ...late]
  const asStarted = { name: 'deep', files, skippedMax: rootSkippedMax, wallMs: 30 * minute }
  const walls = findAboutWalls(filters).filter((file) => !isBelow(file, ownMachines))
  const withoutNamespaces = planWithoutNamespaces(walls, isRoot)
  if (!isRoot) return [asStarted, ...withoutNamespaces]
  const asPlainUser = {
    name: `deep, as uid ${plainUserId}`,
    files: [
      ...files.filter((file) => deepPlainUserFiles.includes(file)),
      ...everything.filter((file) => isBelow(file, [...notDailyAsPlainUser, ...aboutPlainUsers])),
    ],
    userId: plainUserId,
    skippedMax: plainUserSkippedMax,
    wallMs: 30 * minute,
  }
  return [asStarted, asPlainUser, ...withoutNamespaces]
}

function planDaily({ filters, isRoot }: Wanted): Pass[] {
  const everything = find('test/**/*.test.ts', filters)
  const asStarted: Pass = {
    name: isRoot ? 'as root' : 'as a plain user',
    files: everything.filter((file) => filters.length > 0 || !isBelow(file, notDaily)),
    skippedMax: isRoot ? rootSkippedMax : plainUserSkippedMax,
    wallMs: 15 * minute,
  }
  if (!isRoot) return [asStarted]
  const asPlainUser: Pass = {
    name: `as uid ${plainUserId}`,
    files: findAboutWalls(filters).filter(
      (file) => filters.length > 0 || !isBelow(file, [...notDaily, ...notDailyAsPlainUser]),
    ),
    userId: plainUserId,
    skippedMax: plainUserSkippedMax,
    wallMs: 15 * minute,
  }
  return [asStarted, asPlainUser]
}

/**
 * They make machines that lack something, or plans with namespaces, and cannot on one that lacks these already. What is
 * left of sandboxes there test/sandbox/degraded.test.ts says.
 */
const ownMachines = [
  'test/sandbox/',
  'test/escape/archive-of-many.test.ts',
  'test/escape/sandbox-',
  'test/escape/search-the-log.test.ts',
  'test/escape/kill-the-host-of-sandboxes.test.ts',
  'test/engine/missing-layers.test.ts',
  'test/escape/sudden-deaths.test.ts',
  ...['live-ids', 'malformed-frames', 'refused-views', 'step-failures', 'zygote'].map(
    (name) => `test/jail/${name}.test.ts`,
  ),
]

/** A snippet has the same wall whoever runs it. */
const withoutCells = ['test/engine/snippets', 'test/escape/snippet-']

/** The walls of level `restricted`, which differ again between root, who has ids for its guests, and everybody else. */
function planWithoutNamespaces(files: readonly string[], isRoot: boolean): Pass[] {
  const plain: Pass = {
    name: `${isRoot ? `as uid ${plainUserId}` : 'as a plain user'}, without namespaces`,
    files,
    ...(isRoot ? { userId: plainUserId } : {}),
    lacking: ['user-namespaces'],
    skippedMax: withoutNamespacesSkippedMax.plainUser,
    wallMs: 20 * minute,
  }
  if (!isRoot) return [plain]
  const asRoot: Pass = {
    name: 'as root, without namespaces',
    files,
    lacking: ['user-namespaces', 'sys-admin'],
    skippedMax: withoutNamespacesSkippedMax.root,
    wallMs: 20 * minute,
  }
  return [asRoot, plain]
}

function findAboutWalls(filters: readonly string[]): string[] {
  const places = plainUserPlaces.map((place) => `test/${place}`)
  return find('test/**/*.test.ts', filters).filter(
    (file) => isBelow(file, places) && !isBelow(file, withoutCells),
  )
}

function isBelow(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}

/** Files of the pattern that are, or lie below, one of the filters; all of them without filters. */
function find(pattern: string, filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => relative(process.cwd(), resolve(filter)))
  const files = globSync(pattern).sort()
  if (wanted.length === 0) return files
  return files.filter((file) => wanted.some((filter) => file === filter || file.startsWith(`${filter}/`)))
}
