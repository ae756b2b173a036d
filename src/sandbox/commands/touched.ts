/**
 * Which limits a command reached, even if it continued: a build whose children could not be started may well exit with
 * 0. The kernel counts refused forks and out-of-memory kills in the whole space; for descriptors, and for a disk with
 * room again, there is only the output of the programs.
 */
import type { Limits } from '../../core/limits.ts'
import type { Space } from '../../jail/cell/sandbox-cell.ts'

export interface TouchedLimit {
  readonly limit: 'memoryBytes' | 'processesMax' | 'openFilesMax' | 'diskBytes' | 'outputBytes'
  /** The limit's value. */
  readonly allowed: number
  /**
   * `kernel`: according to its counters, for the command or other processes in the same space. `output`: the command
   * printed the typical error, which is only a claim.
   */
  readonly by: 'kernel' | 'output'
}

/** The present counts of a space's cgroup. */
export interface SpaceCounts {
  readonly forksRefused: number
  readonly oomKills: number
}

/** Nothing is counted without a cgroup. */
export function countIn({ ground: { cgroup } }: Pick<Space, 'ground'>): SpaceCounts {
  return { forksRefused: cgroup?.forksRefused() ?? 0, oomKills: cgroup?.oomKills() ?? 0 }
}

export interface Touches {
  readonly before: SpaceCounts
  readonly after: SpaceCounts
  /** No block or inode was left when the command ended. */
  readonly diskFull: boolean
  /** Output beyond the limit was dropped. */
  readonly outputCut: boolean
  readonly texts: readonly string[]
}

/** Errors are at the end of the output. */
const tailLength = 64 * 1024

/**
 * The wording of the C library, bash, Node and Python. A guest chose the text: a pattern that could reach from each of ten
 * thousand words to the end of the line would block the event loop for a second.
 */
const words: readonly (readonly [TouchedLimit['limit'], RegExp])[] = [
  [
    'processesMax',
    /\bspawn\S{0,256} .{0,256}EAGAIN|fork: (retry: )?Resource temporarily|can't start new thread|[Cc]annot fork/,
  ],
  ['openFilesMax', /EMFILE|[Tt]oo many open files/],
  ['diskBytes', /ENOSPC|[Nn]o space left on device|EFBIG|File too large|File size limit exceeded/],
]

export function touchedLimits(
  limits: Limits,
  { before, after, diskFull, outputCut, texts }: Touches,
): TouchedLimit[] {
  const counted: TouchedLimit['limit'][] = [
    ...(after.oomKills > before.oomKills ? (['memoryBytes'] as const) : []),
    ...(after.forksRefused > before.forksRefused ? (['processesMax'] as const) : []),
    ...(diskFull ? (['diskBytes'] as const) : []),
    ...(outputCut ? (['outputBytes'] as const) : []),
  ]
  const tails = texts.map((text) => text.slice(-tailLength))
  const said = words
    .filter(([limit, word]) => !counted.includes(limit) && tails.some((text) => word.test(text)))
    .map(([limit]) => limit)
  const list = (names: readonly TouchedLimit['limit'][], by: TouchedLimit['by']): TouchedLimit[] =>
    names.map((limit) => ({ limit, allowed: limits[limit], by }))
  return [...list(counted, 'kernel'), ...list(said, 'output')]
}
