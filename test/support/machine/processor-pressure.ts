import { readFileSync } from 'node:fs'

/**
 * Milliseconds in which some process of this machine was ready to run and had no processor, all in all. Their growth says
 * how much of a time other work took. 0 on a kernel that does not count them.
 */
export function processorPressureMs(): number {
  try {
    const [, total = 0] = /^some .* total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? []
    return Number(total) / 1000
  } catch {
    return 0
  }
}
