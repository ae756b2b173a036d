/** Chooses the files to collect: those that match, as many as fit. */
import type { Deadline } from './deadline.ts'
import type { ListedEntry, ListedFile } from './listing.ts'
import type { Pattern } from './pattern.ts'

const filesMax = 10_000

export interface Listing {
  readonly entries: Iterable<ListedEntry>
  /** Whether all files were checked. */
  readonly isComplete: boolean
}

export interface Choice {
  readonly files: readonly ListedFile[]
  readonly isComplete: boolean
}

/** The matching files, sorted by path. Matching has a deadline and lets the host's event loop turn. */
export async function chooseFiles(
  listing: Listing,
  patterns: readonly Pattern[],
  deadline: Deadline,
): Promise<Choice> {
  const files: ListedFile[] = []
  let { isComplete } = listing
  for (const { path, bytes, isNameable } of listing.entries) {
    let isWanted = false
    for (const { matches } of patterns) {
      // Before each pattern: all of them together may take a second for one path.
      if (deadline.isDue && (await deadline.isOver())) return { files: [], isComplete: false }
      isWanted = matches(path)
      if (isWanted) break
    }
    if (!isWanted) continue
    if (isNameable) files.push({ path, bytes })
    else isComplete = false
  }
  const sorted = await sortInTurns(files, deadline)
  return sorted === undefined ? { files: [], isComplete: false } : { files: sorted, isComplete }
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
  { files, isComplete }: Choice,
  bytesMax: number,
): { readonly wanted: readonly ListedFile[]; readonly isComplete: boolean } {
  let bytesLeft = bytesMax
  const wanted: ListedFile[] = []
  for (const file of files) {
    if (file.bytes > bytesLeft || wanted.length === filesMax) continue
    bytesLeft -= file.bytes
    wanted.push(file)
  }
  return { wanted, isComplete: isComplete && wanted.length === files.length }
}
