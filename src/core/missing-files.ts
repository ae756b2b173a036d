/** Why files that `collect` asked for are missing, as data and in words. */
import { describePath } from './shown-path.ts'

/** For each reason: what is wrong with one file, with several files, and what helps. */
const reasons = {
  /** The mode of the file, or of a folder above it, forbids the program's own user to read it. */
  permission: {
    one: 'is not readable',
    several: 'are not readable',
    advice: 'Give files and their folders read permission.',
  },
  /** Its name is not UTF-8, so that a result cannot name it. */
  name: {
    one: 'has a name that is not UTF-8',
    several: 'have names that are not UTF-8',
    advice: 'Choose names in UTF-8.',
  },
  /** A link, pipe, socket or device, or something to which only a link leads. */
  kind: {
    one: 'is not a regular file',
    several: 'are not regular files',
    advice: 'Copy what links lead to into files.',
  },
  /** More than 64 folders deep, or with a path of 4,096 bytes or more. */
  path: {
    one: 'is too deep in folders, or has too long a path',
    several: 'are too deep in folders, or have too long paths',
    advice: 'Use shorter paths.',
  },
  /** All files together would be larger than `resultBytes`. */
  size: {
    one: 'does not fit into resultBytes',
    several: 'do not fit into resultBytes',
    advice: 'Write smaller files to get all of them.',
  },
  /** More files than a run returns, or more entries in folders than are looked at. */
  count: {
    one: 'is one file too many',
    several: 'are too many files',
    advice: 'Write fewer files, or collect from fewer folders.',
  },
  /** The process of Lazaret holds as much for its clients as it may. */
  room: {
    one: 'found no room in the process of Lazaret',
    several: 'found no room in the process of Lazaret',
    advice: 'Write smaller files, or try again later.',
  },
  /** Collecting took too long. */
  time: {
    one: 'was not collected in time',
    several: 'were not collected in time',
    advice: 'Write fewer files, or collect from fewer folders.',
  },
  /** It changed or vanished while it was collected, or the system could not read it. */
  changed: {
    one: 'could not be read to its end',
    several: 'could not be read to their ends',
    advice: 'Stop what changes files before the end.',
  },
  /** The run was cancelled, or its cell was lost. */
  ended: {
    one: 'was not collected: the cell had ended',
    several: 'were not collected: the cell had ended',
    advice: undefined,
  },
} as const

export type MissingReason = keyof typeof reasons

export const missingReasons = Object.keys(reasons) as readonly MissingReason[]

/** Files that are missing for the same reason. */
export interface MissingFiles {
  /**
   * `permission`: not readable for the program's own user. `name`: the name is not UTF-8. `kind`: a link, pipe, socket or
   * device; these are never collected. `path`: too deep in folders, or too long a path. `size`: beyond `resultBytes`.
   * `count`: beyond the number of files that a run returns, or of entries that are looked at. `room`: the process of
   * Lazaret holds as much as it may. `time`: collecting took too long. `changed`: changed while it was read. `ended`: the run was cancelled, or its cell was lost.
   */
  readonly reason: MissingReason
  /** How many are known. A folder that cannot be read counts as one; 0 if nothing is known about the files. */
  readonly count: number
  /** Up to ten of them, by path below /workspace. Guest text; a name that is not UTF-8 is only approximated. */
  readonly paths: readonly string[]
}

/** Whether something is missing besides links, pipes and the like, which are never collected. */
export function isIncomplete(missing: readonly MissingFiles[]): boolean {
  return missing.some(({ reason }) => reason !== 'kind')
}

const namedMax = 3

/** One sentence, such as `"a" and 2 more are not readable.` */
export function sayMissing({ reason, count, paths }: MissingFiles): string {
  const { one, several } = reasons[reason]
  if (count === 0) return `Files ${several}.`
  const named = paths.slice(0, namedMax).map(describePath)
  const more = count - named.length
  const all = [...named, ...(more > 0 ? [`${more} more`] : [])]
  const list = all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all.join('')
  return `${list} ${count === 1 ? one : several}.`
}

/** What helps to get them, each advice once. */
export function adviseOnMissing(missing: readonly MissingFiles[]): string[] {
  return [...new Set(missing.flatMap(({ reason }) => reasons[reason].advice ?? []))]
}
