/**
 * Open files: each process starts with the usual soft limit of Linux, and may raise it far, as servers and runtimes do.
 * All of them come from one table of the machine (`fs.file-max`), so a cell may have only a part of it. Source:
 * proc_sys_fs(5).
 */
import { readFileSync } from 'node:fs'

export const openFilesSoft = 1024

/** The sum for 256 processes that never raise their limit. */
const usualMax = 262_144
const cellsAtLeast = 8
/** The minimum that programs need; only a very small machine has such a small table. */
const leastMax = 16_384

/** How many files a cell's processes may have open together. */
export function filesMaxOf(fileMax: string): number {
  const machine = Number(fileMax.trim())
  if (!Number.isFinite(machine) || machine <= 0) return usualMax
  return Math.min(usualMax, Math.max(leastMax, Math.floor(machine / cellsAtLeast)))
}

export function readFileMax(): string {
  try {
    return readFileSync('/proc/sys/fs/file-max', 'utf8')
  } catch {
    return ''
  }
}
