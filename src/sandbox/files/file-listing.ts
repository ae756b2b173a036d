/**
 * The listing of a folder, from the answers of the process inside: in steps, because a guest can create any number of
 * names.
 */
import { describeRecord } from './file-info.ts'
import type { FileInfo } from './file-info.ts'
import { decodeRecords, recordKind } from './file-records.ts'

export interface FileListing {
  /** Sorted by path, by code unit. */
  readonly entries: readonly FileInfo[]
  /** False if there were more than `entriesMax`, or a folder could not be read. */
  readonly isComplete: boolean
}

/** Sorting this many takes a few milliseconds. */
const sortedAtOnceMax = 4096

export function* readListing(answer: Buffer): Generator<void, FileListing> {
  const records = decodeRecords(answer)
  const entries: FileInfo[] = []
  let isReadable = true
  for (;;) {
    const { done, value } = records.next()
    if (done === true)
      return { entries: yield* sortInSteps(entries), isComplete: isReadable && value.isComplete }
    if (value.kind === recordKind.unreadable) isReadable = false
    const info = describeRecord(value)
    if (info !== undefined) entries.push(info)
    yield
  }
}

function* sortInSteps(entries: readonly FileInfo[]): Generator<void, readonly FileInfo[]> {
  let runs: (readonly FileInfo[])[] = []
  for (let at = 0; at < entries.length; at += sortedAtOnceMax) {
    runs.push(entries.slice(at, at + sortedAtOnceMax).sort(byPath))
    yield
  }
  while (runs.length > 1) {
    const merged: (readonly FileInfo[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(merge(runs[at] ?? [], runs[at + 1] ?? []))
      yield
    }
    runs = merged
  }
  return runs[0] ?? []
}

function merge(some: readonly FileInfo[], others: readonly FileInfo[]): FileInfo[] {
  const merged: FileInfo[] = []
  let at = 0
  for (const one of some) {
    for (let other = others[at]; other !== undefined && byPath(other, one) < 0; other = others[at]) {
      merged.push(other)
      at++
    }
    merged.push(one)
  }
  for (; at < others.length; at++) merged.push(others[at] as FileInfo)
  return merged
}

function byPath(one: FileInfo, other: FileInfo): number {
  if (one.path === other.path) return 0
  return one.path < other.path ? -1 : 1
}
