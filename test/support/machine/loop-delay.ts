/** Measures how long work blocks the event loop of this process. */
import assert from 'node:assert/strict'

import { processorMs } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { usedBytes } from './held-memory.ts'
import { slowness } from './slowness.ts'

export interface LoopDelay {
  /** Milliseconds between two turns: the maximum, and the 99.9th percentile. */
  readonly maxMs: number
  readonly mostMs: number
  /** The peak growth of the memory in use. Without a bound it includes garbage. */
  readonly growthBytes: number
}

/** A requirement of the product: on an idle machine nothing that a guest sends may block the loop for longer. */
const delayMsMax = 50
/**
 * Room for V8's young generation, and for the result in several forms: its text, the parsed value and the caller's
 * copy.
 */
export const growthBytesMax = 64 * 1024 * 1024 + 10 * defaultLimits.resultBytes
/** The test's own garbage collection hardly disturbs three attempts in a row. */
const attemptsMax = 3
/** Reading the memory in use is slow, so not every sample does it. */
const looksPerSample = 5

export interface LoopBounds {
  /** Absent if the memory is the test's own. */
  readonly growthBytesMax?: number
  readonly onMeasured?: (delay: LoopDelay) => void
}

interface Mark {
  readonly wallMs: number
  readonly cpuMs: number
}

/**
 * Runs `work` while a timer samples the turns of the loop. What `work` passes to `except` is the test's own, and does not
 * count.
 */
export async function measureLoop<T>(
  work: (except: (act: () => void) => void) => Promise<T>,
  growthMax = Infinity,
): Promise<{ readonly result: T; readonly delay: LoopDelay }> {
  const gaps: number[] = []
  const startBytes = usedBytes()
  let peakBytes = startBytes
  let before = mark()
  const weigh = () => (peakBytes = Math.max(peakBytes, usedBytes(startBytes + growthMax)))
  const look = () => {
    const now = mark()
    // Time in which the kernel ran other processes is not time in which `work` blocked the loop.
    gaps.push(Math.min(now.wallMs - before.wallMs, now.cpuMs - before.cpuMs))
    if (gaps.length % looksPerSample === 0) weigh()
    before = mark()
  }
  const except = (act: () => void) => {
    look()
    act()
    before = mark()
  }
  const timer = setInterval(look, 1)
  try {
    const result = await work(except)
    // Covers a block right before the end.
    look()
    weigh()
    return { result, delay: { ...summarize(gaps), growthBytes: peakBytes - startBytes } }
  } finally {
    clearInterval(timer)
  }
}

/** Fails if every attempt of `work` blocks the loop for too long, or makes this process grow too much. */
export async function keepLoopFree<T>(
  name: string,
  work: () => Promise<T>,
  { growthBytesMax: growthMax, onMeasured }: LoopBounds = {},
): Promise<T> {
  const seen: string[] = []
  while (seen.length < attemptsMax) {
    const { result, delay } = await measureLoop(work, growthMax)
    const slower = delay.maxMs > delayMsMax ? slowness() : 1
    seen.push(`${formatDelay(delay)}, on a machine ${slower.toFixed(1)} times slower than idle`)
    if (delay.maxMs > delayMsMax * slower || (growthMax !== undefined && delay.growthBytes > growthMax))
      continue
    if (onMeasured === undefined) console.log(`${name}: the loop turned after ${formatDelay(delay)}`)
    else onMeasured(delay)
    return result
  }
  assert.fail(`${name}: the loop turned after ${seen.join('; ')}`)
}

export const formatDelay = ({ maxMs, mostMs, growthBytes }: LoopDelay): string =>
  `${mostMs.toFixed(1)} ms (p99.9), ${maxMs.toFixed(1)} ms (max), and the host held ${Math.round(growthBytes / 1024 / 1024)} MiB more`

function mark(): Mark {
  return { wallMs: performance.now(), cpuMs: processorMs() }
}

function summarize(gaps: readonly number[]): Omit<LoopDelay, 'growthBytes'> {
  const sorted = gaps.toSorted((a, b) => a - b)
  const last = sorted.length - 1
  return { maxMs: sorted[last] ?? 0, mostMs: sorted[Math.floor(last * 0.999)] ?? 0 }
}
