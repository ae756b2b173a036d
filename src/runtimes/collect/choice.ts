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
    if (await deadline.isOver()) return { files: [], isComplete: false }
    if (!patterns.some(({ matches }) => matches(path))) continue
    if (isNameable) files.push({ path, bytes })
    else isComplete = false
  }
  return { files: files.toSorted(byPath), isComplete }
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
