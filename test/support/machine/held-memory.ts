/**
 * The memory that this process uses: V8's heap and the buffers outside of it, without garbage. Unlike the resident set it
 * does not depend on when V8 collects garbage, or on what the allocator keeps.
 */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MiB = 1024 * 1024
const sampleMs = 10
const growthBytesMax = 64 * MiB
/** Some buffers are freed only after the sweep of an earlier collection. */
const collectionsMax = 4

/** V8's `gc()`; `last-resort` also returns empty pages. */
type Collect = (options?: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as Collect

/** Collects garbage and returns free pages to the kernel. */
export function returnPages(): void {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** The bytes in use. Garbage counts only as long as they stay below `enough`. */
export function usedBytes(enough = 0): number {
  let used = readUsedBytes()
  for (let collections = 0; collections < collectionsMax && used >= enough; collections++) {
    const before = used
    collect()
    used = readUsedBytes()
    if (used > before - noiseBytes) break
  }
  return used
}

/** A collection that frees less has found no garbage. */
const noiseBytes = 256 * 1024

function readUsedBytes(): number {
  const { external, heapUsed } = process.memoryUsage()
  return external + heapUsed
}

/** Runs `work`, and fails if the memory in use grows by 64 MiB or more at any time meanwhile. */
export async function keepHeldFlat<T>(work: () => Promise<T>): Promise<T> {
  const before = usedBytes()
  let peak = before
  const look = () => (peak = Math.max(peak, usedBytes(before + growthBytesMax)))
  const timer = setInterval(look, sampleMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    look()
    const growth = peak - before
    assert.ok(growth < growthBytesMax, `the host holds ${Math.round(growth / MiB)} MiB more`)
  }
}
