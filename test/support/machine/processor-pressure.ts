import { readFileSync } from 'node:fs'

/**
 * The total time in which some process of this machine was runnable but had no processor, in milliseconds. Its growth
 * says how much of an interval other work took. 0 if the kernel does not count it.
 */
export function processorPressureMs(): number {
  try {
    const [, total = 0] = /^some .* total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? []
    return Number(total) / 1000
  } catch {
    return 0
  }
}

/**
 * Starts a stopwatch that stands still while some process of this machine has no processor: what it shows is the fault of
 * whoever is measured, not of other work.
 */
export function startCalmWatch(): () => number {
  const [startMs, pressureMs] = [performance.now(), processorPressureMs()]
  return () => performance.now() - startMs - (processorPressureMs() - pressureMs)
}
