/** How long the event loop of this process is kept from turning while something happens. */
import assert from 'node:assert/strict'

import { processorMs } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'

export interface LoopDelay {
  /** Milliseconds between two turns: the longest, and all but one in a thousand. */
  readonly maxMs: number
  readonly mostMs: number
  /** By how much this process was larger than before, at most. */
  readonly growthBytes: number
}

/** A product deadline: nothing that a guest sends may take longer without a turn of the loop. */
const delayMsMax = 50
/** What the engine keeps for young objects, and the result: as text, as what was read, and as the caller's own. */
export const growthBytesMax = 64 * 1024 * 1024 + 10 * defaultLimits.resultBytes
/** A machine that is busy with other things, or collects garbage of the test's own, is not so three times. */
const attemptsMax = 3
/** The resident set is read from a file. */
const looksPerSample = 5

export interface LoopBounds {
  /** Absent where the work is the test's own. */
  readonly growthBytesMax?: number
  readonly onMeasured?: (delay: LoopDelay) => void
}

interface Mark {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Runs `work` beside a ticker. */
export async function measureLoop<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly delay: LoopDelay }> {
  const gaps: number[] = []
  const startBytes = process.memoryUsage.rss()
  let peakBytes = startBytes
  let before = mark()
  const look = () => {
    const now = mark()
    // Where the kernel gave the processor to somebody else, nobody's work kept the loop from turning.
    gaps.push(Math.min(now.wallMs - before.wallMs, now.cpuMs - before.cpuMs))
    before = now
    if (gaps.length % looksPerSample === 0) peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }
  const timer = setInterval(look, 1)
  try {
    const result = await work()
    // The last block may come right before the end.
    look()
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
    return { result, delay: { ...summarize(gaps), growthBytes: peakBytes - startBytes } }
  } finally {
    clearInterval(timer)
  }
}

/** Fails when `work` keeps the loop from turning for longer than it may, or this process grows, each time that it is tried. */
export async function keepLoopFree<T>(
  name: string,
  work: () => Promise<T>,
  { growthBytesMax: growthMax, onMeasured }: LoopBounds = {},
): Promise<T> {
  const seen: LoopDelay[] = []
  while (seen.length < attemptsMax) {
    const { result, delay } = await measureLoop(work)
    seen.push(delay)
    if (delay.maxMs > delayMsMax || (growthMax !== undefined && delay.growthBytes > growthMax)) continue
    if (onMeasured === undefined) console.log(`${name}: the loop turned after ${formatDelay(delay)}`)
    else onMeasured(delay)
    return result
  }
  assert.fail(`${name}: the loop turned after ${seen.map(formatDelay).join('; ')}`)
}

export const formatDelay = ({ maxMs, mostMs, growthBytes }: LoopDelay): string =>
  `${mostMs.toFixed(1)} ms (p99.9), ${maxMs.toFixed(1)} ms (max), and the host grew by ${Math.round(growthBytes / 1024 / 1024)} MiB`

function mark(): Mark {
  return { wallMs: performance.now(), cpuMs: processorMs() }
}

function summarize(gaps: readonly number[]): Omit<LoopDelay, 'growthBytes'> {
  const sorted = gaps.toSorted((a, b) => a - b)
  const last = sorted.length - 1
  return { maxMs: sorted[last] ?? 0, mostMs: sorted[Math.floor(last * 0.999)] ?? 0 }
}
