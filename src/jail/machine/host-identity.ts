/**
 * Names for what this host process keeps outside itself (cgroups, folders), so that a later one knows what a dead host
 * left behind. Source: proc(5), fields of /proc/<pid>/stat.
 */
import { readFileSync, readlinkSync } from 'node:fs'

let sequence = 0

/** A name that no other live process uses, and that this process uses only once. */
export function nameOfThisHost(): string {
  // A dead host's pid can be reused, so its start time is part of the name; and a pid means nothing in another
  // namespace.
  return `lazaret-${pidNamespace()}-${process.pid}-${startTime(process.pid)}-${++sequence}`
}

/** Whether a name is one that `nameOfThisHost` gave to a process of this pid namespace that is dead by now. */
export function isLeftBehind(name: string): boolean {
  const [, namespace, pid, start] = /^lazaret-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
  return namespace === pidNamespace() && !isAlive(Number(pid), String(start))
}

function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}

/** Field 22, counted after the name, which may contain spaces and parentheses. */
function startTime(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function isAlive(pid: number, start: string): boolean {
  try {
    return startTime(pid) === start
  } catch {
    return false
  }
}
