/** The receipt: which walls stood and what holds each limit. */
import type { LimitMechanism, LimitName, Limits } from '../core/limits.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { Receipt } from '../core/result.ts'
import type { Exit } from './exit.ts'

export interface ReceiptFacts {
  readonly runtime: RuntimeName
  readonly protection: ProtectionLevel
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
  readonly heldByCgroup: boolean
}

export type LimitMechanisms = Readonly<Record<LimitName, LimitMechanism>>

/** What enforces each limit, with or without cgroups. */
export function limitMechanisms(heldByCgroup: boolean): LimitMechanisms {
  return {
    wallMs: 'cell',
    cpuMs: heldByCgroup ? 'cgroup' : 'watchdog',
    memoryBytes: heldByCgroup ? 'cgroup' : 'watchdog',
    processesMax: heldByCgroup ? 'cgroup' : 'rlimit',
    openFilesMax: 'rlimit',
    diskBytes: 'tmpfs',
    outputBytes: 'cell',
    codeBytes: 'host',
    inputBytes: 'host',
    resultBytes: 'host',
    functionCallsMax: 'host',
    functionMs: 'host',
  }
}

export function writeReceipt(facts: ReceiptFacts, exit: Pick<Exit, 'layers' | 'observed'>): Receipt {
  const mechanisms = limitMechanisms(facts.heldByCgroup)
  const names = Object.keys(mechanisms) as LimitName[]
  const entries = names.map((name) => [
    name,
    { value: facts.limits[name], by: facts.limits[name] === null ? 'none' : mechanisms[name] },
  ])
  return {
    runtime: facts.runtime,
    protection: facts.protection,
    layers: exit.layers,
    limits: Object.fromEntries(entries) as Receipt['limits'],
    clamped: facts.clamped,
    observed: exit.observed,
  }
}
