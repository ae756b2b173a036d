/** Which tests run as whom, and how many of them may be skipped. */
import { globSync } from 'node:fs'
import { relative, resolve } from 'node:path'

export interface Pass {
  readonly name: string
  readonly files: readonly string[]
  /** Run as this user instead of as the one who started the runner. */
  readonly userId?: number
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
  'adapters/cli/doctor',
  'adapters/cli/run',
]

/** On a machine with a compiler, Python, Bun, git and cgroups a few cases still have nothing to run on. */
const rootSkippedMax = 4
/** Without cgroups and ids of their own, the cases about these have nothing to look at. */
const plainUserSkippedMax = 12

const minute = 60_000

export function planPasses({
  deep,
  filters,
  isRoot,
}: {
  deep: boolean
  filters: readonly string[]
  isRoot: boolean
}): Pass[] {
  if (deep) {
    return [
      {
        name: 'deep',
        files: find('test-deep/**/*.test.ts', filters),
        skippedMax: rootSkippedMax,
        wallMs: 30 * minute,
      },
    ]
  }
  const everything = find('test/**/*.test.ts', filters)
  const asStarted: Pass = {
    name: isRoot ? 'as root' : 'as a plain user',
    files: everything,
    skippedMax: isRoot ? rootSkippedMax : plainUserSkippedMax,
    wallMs: 10 * minute,
  }
  if (!isRoot) return [asStarted]
  const places = plainUserPlaces.map((place) => `test/${place}`)
  const asPlainUser: Pass = {
    name: `as uid ${plainUserId}`,
    files: everything.filter((file) => places.some((place) => file.startsWith(place))),
    userId: plainUserId,
    skippedMax: plainUserSkippedMax,
    wallMs: 10 * minute,
  }
  return [asStarted, asPlainUser]
}

/** Files of the pattern that are, or lie below, one of the filters; all of them without filters. */
function find(pattern: string, filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => relative(process.cwd(), resolve(filter)))
  const files = globSync(pattern).sort()
  if (wanted.length === 0) return files
  return files.filter((file) => wanted.some((filter) => file === filter || file.startsWith(`${filter}/`)))
}
