/** Measures the growth of the host process. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const sampleMs = 10
const growthBytesMax = 64 * 1024 * 1024

/** Runs `work`, and fails if this process's resident set grows by 64 MiB or more at any time meanwhile. */
export async function keepMemoryFlat<T>(work: () => Promise<T>): Promise<T> {
  const before = process.memoryUsage.rss()
  let peak = before
  const look = () => (peak = Math.max(peak, process.memoryUsage.rss()))
  const timer = setInterval(look, sampleMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    look()
    const growth = peak - before
    assert.ok(growth < growthBytesMax, `the host grew by ${Math.round(growth / 1024 / 1024)} MiB`)
  }
}

/**
 * V8's `gc()`, for a full collection that also returns empty pages: otherwise V8 keeps tens of MiB for young objects.
 */
type CollectAll = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/** The resident set after a full garbage collection. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as CollectAll
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return process.memoryUsage.rss()
}
