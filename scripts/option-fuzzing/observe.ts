/** One program in one run, and the host's own readings before, during and after it. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

import type { Lazaret, RunResult } from '../../src/index.ts'
import { limits, listSuspicions } from './judge.ts'
import type { Observation } from './judge.ts'
import { readQuickly, readSlowly } from './readings.ts'
import type { Readings } from './readings.ts'

export interface Observed extends Observation {
  /** The counts of the guest's processes, as far as they got to report them. */
  readonly stdout: string
}

/**
 * Whatever changes memory while it is watched: a run, or, in a test of the watch itself, something outside of a
 * cell.
 */
export type Watched = (signal: AbortSignal) => Promise<RunResult>

/** Allows for other work on the machine: a run that exceeds its limit by this much is ended, and reported. */
const brakeBytes = 1024 * 1024 * 1024
const quickMs = 20
const slowMs = 200
/** Cells are removed in the background, and the kernel frees its per-processor counts late. */
const settleMs = 3000

export async function observe(watched: Watched, complaints: () => readonly string[]): Promise<Observed> {
  complaints()
  const before = readSlowly()
  const brake = new AbortController()
  const delay = monitorEventLoopDelay({ resolution: 10 })
  const extreme: Record<string, number> = { ...before }
  // Reading long lists takes time, too, which is not the guest's fault.
  let longestLookMs = 0
  const look = (read: () => Readings) => {
    const lookedMs = performance.now()
    for (const [name, value] of Object.entries(read()))
      extreme[name] = isFree(name)
        ? Math.min(extreme[name] ?? value, value)
        : Math.max(extreme[name] ?? value, value)
    if ((before['MemAvailable'] ?? 0) - (extreme['MemAvailable'] ?? 0) > brakeBytes) brake.abort()
    longestLookMs = Math.max(longestLookMs, performance.now() - lookedMs)
  }
  const timers = [setInterval(() => look(readQuickly), quickMs), setInterval(() => look(readSlowly), slowMs)]
  const startedMs = performance.now()
  delay.enable()
  const result = await watched(brake.signal).catch((error: unknown) => error as Error)
  delay.disable()
  const wallMs = performance.now() - startedMs
  for (const timer of timers) clearInterval(timer)
  const seen = {
    ...{ before, extreme, wallMs, eventLoopMs: delay.max / 1e6 - longestLookMs, neighbours: complaints() },
    ...describeResult(result),
  }
  return { ...seen, after: await settle(seen) }
}

/** Most runs leave nothing, which one reading shows. For others, the leftovers that remain after some time. */
async function settle(seen: Omit<Observation, 'after'>): Promise<Readings> {
  const endMs = performance.now() + settleMs
  for (;;) {
    const after = readSlowly()
    const isLeft = listSuspicions({ ...seen, after }).some(({ what }) => what.endsWith('left behind'))
    if (!isLeft || performance.now() > endMs) return after
    await pause(100)
  }
}

function describeResult(result: RunResult | Error) {
  if (result instanceof Error)
    return {
      outcome: 'threw' as const,
      detail: result.message,
      memoryPeakBytes: 0,
      heldByCgroup: false,
      stdout: '',
    }
  const { outcome, usage, receipt, stdout } = result
  return {
    outcome: outcome.kind,
    detail: JSON.stringify(outcome),
    memoryPeakBytes: usage.memoryPeakBytes,
    heldByCgroup: receipt.limits.memoryBytes.by === 'cgroup',
    stdout,
  }
}

function isFree(name: string): boolean {
  return name === 'MemAvailable' || name === 'HugePages_Free'
}

/** The guest reads its calls from a file, because a parked shell has its stdin already. */
export function runGuest(lazaret: Lazaret, guest: Uint8Array, calls: string): Watched {
  return (signal) =>
    lazaret.run({
      language: 'shell',
      code: 'chmod +x guest && exec ./guest < calls',
      files: { guest, calls },
      limits,
      signal,
    })
}
