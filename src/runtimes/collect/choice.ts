/** Chooses the files to collect: those that match, as many as fit. */
import type { Deadline } from './deadline.ts'
import type { ListedEntry, ListedFile } from './listing.ts'
import type { MissingLog } from './missing-log.ts'
import type { Pattern } from './pattern.ts'

const filesMax = 10_000

export interface Choice {
  /** Sorted by path. */
  readonly files: readonly ListedFile[]
  /** Empty folders, sorted. */
  readonly folders: readonly string[]
}

/** What matches. Matching has a deadline and lets the host's event loop turn. */
export async function chooseFiles(
  entries: Iterable<ListedEntry>,
  patterns: readonly Pattern[],
  { deadline, missing }: { readonly deadline: Deadline; readonly missing: MissingLog },
): Promise<Choice> {
  const files: ListedFile[] = []
  const folders: string[] = []
  const giveUp = (): Choice => {
    missing.add(deadline.missingReason)
    return { files: [], folders: [] }
  }
  for (const { type, reason, isNameable, ...file } of entries) {
    // Anything may be in a folder that cannot be read.
    let isWanted = type === 'unlisted'
    for (const { matches } of patterns) {
      if (isWanted) break
      // Before each pattern: all of them together may take a second for one path.
      if (deadline.isDue && (await deadline.isOver())) return giveUp()
      isWanted = matches(file.path)
    }
    if (!isWanted) continue
    if (reason !== undefined) missing.add(reason, file.path)
    else if (type === 'other') missing.add('kind', file.path)
    else if (!isNameable) missing.add('name', file.path)
    else if (type === 'file') files.push(file)
    else folders.push(file.path)
  }
  const sorted = await sortInTurns(files, deadline)
  return sorted === undefined ? giveUp() : { files: sorted, folders: folders.slice(0, filesMax).toSorted() }
}

/** As many as are sorted without a look at the deadline. All at once would block the event loop for a twentieth of a second. */
const sortedAtOnce = 4096

/** Undefined if the deadline is over first. */
async function sortInTurns(
  files: readonly ListedFile[],
  deadline: Deadline,
): Promise<readonly ListedFile[] | undefined> {
  let runs: ListedFile[][] = []
  for (let at = 0; at < files.length; at += sortedAtOnce) {
    if (deadline.isDue && (await deadline.isOver())) return undefined
    runs.push(files.slice(at, at + sortedAtOnce).sort(byPath))
  }
  while (runs.length > 1) {
    const merged: ListedFile[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const both = await merge(runs[at] ?? [], runs[at + 1] ?? [], deadline)
      if (both === undefined) return undefined
      merged.push(both)
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge(
  some: readonly ListedFile[],
  others: readonly ListedFile[],
  deadline: Deadline,
): Promise<ListedFile[] | undefined> {
  const merged: ListedFile[] = []
  let next = 0
  for (const one of some) {
    if (deadline.isDue && (await deadline.isOver())) return undefined
    for (let other = others[next]; other !== undefined && byPath(other, one) < 0; other = others[++next])
      merged.push(other)
    merged.push(one)
  }
  for (; next < others.length; next++) merged.push(others[next] as ListedFile)
  return merged
}

function byPath(one: ListedFile, other: ListedFile): number {
  if (one.path === other.path) return 0
  return one.path < other.path ? -1 : 1
}

/** Omits whole files that do not fit. A smaller file after one of those may still fit. */
export function fitToLimits(
  files: readonly ListedFile[],
  bytesMax: number,
  missing: MissingLog,
): readonly ListedFile[] {
  let bytesLeft = bytesMax
  const wanted: ListedFile[] = []
  for (const file of files) {
    if (wanted.length === filesMax) missing.add('count', file.path)
    else if (file.bytes > bytesLeft) missing.add('size', file.path)
    else {
      bytesLeft -= file.bytes
      wanted.push(file)
    }
  }
  return wanted
}
