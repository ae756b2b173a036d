/** Ctrl-C kills the rivals, lets the current turn end and disposes everything. A second Ctrl-C ends the process at once. */
import type { ChildProcess } from 'node:child_process'

export class Interrupted extends Error {}

const interruption = new AbortController()
const children = new Set<ChildProcess>()

export function listenForInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
}

function interrupt(): void {
  // Cells end with their host, but rivals do not.
  killChildren()
  if (interruption.signal.aborted) process.exit(130)
  interruption.abort()
}

export function isInterrupted(): boolean {
  return interruption.signal.aborted
}

/** Called between turns. */
export function throwIfInterrupted(): void {
  if (isInterrupted()) throw new Interrupted('The benchmark was interrupted.')
}

/** A process that must not outlive the benchmark. */
export function own(child: ChildProcess): void {
  children.add(child)
  child.once('exit', () => children.delete(child))
}

function killChildren(): void {
  for (const child of children) child.kill('SIGKILL')
}
