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
