/** The receipt: which walls stood and what holds each limit. */
import type { LimitMechanism, LimitName, Limits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { Receipt, StartKind } from '../core/result.ts'
import type { Exit } from './exit.ts'

export interface ReceiptFacts {
  readonly start: StartKind
  readonly runtime: RuntimeName
  readonly protection: Protection
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
  readonly cgroupVersion: 1 | 2 | null
}

export type LimitMechanisms = Readonly<Record<LimitName, LimitMechanism>>

/** What a machine has for holding limits. */
export interface LimitGround {
  readonly cgroupVersion: 1 | 2 | null
  readonly level: Protection
  /** Whether guests have ids of their own, or are counted together with everything that the service's user runs. */
  readonly identity: 'own' | 'shared'
  readonly start?: StartKind
}

/** What enforces each limit there. */
export function limitMechanisms({
  cgroupVersion,
  level,
  identity,
  start = 'cold',
}: LimitGround): LimitMechanisms {
  if (level === 'wasm') return withoutCell
  const ownFiles = level === 'strong' || level === 'standard'
  // A user namespace has a count of its own; without one the kernel counts a uid on the whole machine.
  const ownCount = ownFiles || identity === 'own'
  const heldByCgroup = cgroupVersion !== null
  // Forks of one interpreter share a count too.
  const sharesCount = start === 'forked' && identity === 'shared'
  const processesHeldBy = ownCount && !sharesCount ? 'rlimit' : 'watchdog'
  return {
    wallMs: 'cell',
    cpuMs: heldByCgroup ? 'cgroup' : 'watchdog',
    memoryBytes: heldByCgroup ? 'cgroup' : 'watchdog',
    processesMax: heldByCgroup ? 'cgroup' : processesHeldBy,
    openFilesMax: 'rlimit',
    diskBytes: ownFiles ? 'tmpfs' : 'watchdog',
    outputBytes: 'cell',
    codeBytes: 'host',
    inputBytes: 'host',
    resultBytes: 'host',
    functionCallsMax: 'host',
    functionMs: 'host',
    hostMs: 'host',
  }
}

/**
 * A thread has no processes, descriptors or files to give away. It never waits, so that the time it has is processor time:
 * the deadline is the earlier of the two.
 */
const withoutCell: LimitMechanisms = {
  wallMs: 'host',
  cpuMs: 'host',
  memoryBytes: 'wasm',
  processesMax: 'wasm',
  openFilesMax: 'wasm',
  diskBytes: 'wasm',
  outputBytes: 'host',
  codeBytes: 'host',
  inputBytes: 'host',
  resultBytes: 'host',
  functionCallsMax: 'host',
  functionMs: 'host',
  hostMs: 'host',
}

export function writeReceipt(facts: ReceiptFacts, exit: Pick<Exit, 'layers' | 'observed'>): Receipt {
  const identity = exit.layers.includes('own-uid') ? 'own' : 'shared'
  const mechanisms = limitMechanisms({ ...facts, level: facts.protection, identity })
  const names = Object.keys(mechanisms) as LimitName[]
  const entries = names.map((name) => [
    name,
    { value: facts.limits[name], by: facts.limits[name] === null ? 'none' : mechanisms[name] },
  ])
  return {
    start: facts.start,
    runtime: facts.runtime,
    protection: facts.protection,
    layers: exit.layers,
    limits: Object.fromEntries(entries) as Receipt['limits'],
    clamped: facts.clamped,
    observed: exit.observed,
  }
}
