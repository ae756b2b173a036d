/** The descendants of a process and their memory, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** All descendants of a process. */
export function descendantsOf(ancestor: number): number[] {
  const childrenOf = Map.groupBy(listProcesses(), ({ parent }) => parent)
  const below = (pid: number): number[] =>
    (childrenOf.get(pid) ?? []).flatMap((child) => [child.pid, ...below(child.pid)])
  return below(ancestor)
}

function listProcesses(): { readonly pid: number; readonly parent: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const status = readProcess(Number(name), 'status')
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(status ?? '') ?? []
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent) }]
    })
}

export interface ProcessMemory {
  /** Proportional set size: a page that several processes map is divided among them. */
  readonly pssBytes: number
  readonly pageTableBytes: number
}

/** Null if the process is gone, or this user may not read its memory. */
export function memoryOf(pid: number): ProcessMemory | null {
  const rollup = readProcess(pid, 'smaps_rollup')
  const status = readProcess(pid, 'status')
  if (rollup === null || status === null) return null
  return { pssBytes: kibibytes(rollup, 'Pss'), pageTableBytes: kibibytes(status, 'VmPTE') }
}

function kibibytes(text: string, field: string): number {
  const [, value = '0'] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text) ?? []
  return Number(value) * 1024
}

function readProcess(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}
