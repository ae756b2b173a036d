/** Measures the growth of the host process while guests hoard, and the host receives nothing from them. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'

import { returnPages } from './held-memory.ts'

const MiB = 1024 * 1024
const sampleMs = 10
const growthBytesMax = 64 * MiB

/**
 * Runs `work`, and fails if this process's resident set grows by 64 MiB or more at any time meanwhile, not counting
 * garbage. If the host receives data, use `keepHeldFlat`: what the allocator keeps of it is resident, too.
 */
export async function keepMemoryFlat<T>(work: () => Promise<T>): Promise<T> {
  const before = heldBytes()
  let peak = before
  const look = () => {
    const resident = process.memoryUsage.rss()
    peak = Math.max(peak, resident - before < growthBytesMax ? resident : heldBytes())
  }
  const timer = setInterval(look, sampleMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    look()
    const growth = peak - before
    assert.ok(growth < growthBytesMax, `the host grew by ${Math.round(growth / MiB)} MiB`)
  }
}

/** The resident set after a full garbage collection. */
export function heldBytes(): number {
  returnPages()
  return process.memoryUsage.rss()
}

/**
 * By how many bytes the resident set grows at most while `work` runs. It runs in one turn, so nobody else uses memory
 * meanwhile.
 */
export function measurePeak<T>(work: () => T): { readonly result: T; readonly peakBytes: number } {
  // Sets the peak to the present size.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = readPeakBytes()
  const result = work()
  return { result, peakBytes: readPeakBytes() - before }
}

function readPeakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}
