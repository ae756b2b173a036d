/** How much a piece of work makes the host process grow. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const sampleMs = 10
const growthBytesMax = 64 * 1024 * 1024

/** Runs `work` and fails when this process's resident set grew by 64 MiB or more at any time meanwhile. */
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

/** The resident set after a full collection, so that it says what is held and not what waits to be swept. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage.rss()
}
