/** The receipt of a command: which layers protected it, and what enforced each limit. Pure. */
import { perLimit } from '../../core/limits.ts'
import type { LimitName, Limits } from '../../core/limits.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import type { Receipt } from '../../core/receipt.ts'
import { writeReceipt } from '../../result/receipt.ts'
import type { CommandEvidence } from './command-end.ts'

/** The limits that apply in a sandbox; the others of `Limits` apply only to runs. */
export const sandboxLimitNames = [
  'memoryBytes',
  'processesMax',
  'openFilesMax',
  'diskBytes',
  'outputBytes',
  'inputBytes',
] as const satisfies readonly LimitName[]

export type SandboxLimits = Pick<Limits, (typeof sandboxLimitNames)[number]>

export function pickSandboxLimits(limits: Limits): SandboxLimits {
  return Object.fromEntries(sandboxLimitNames.map((name) => [name, limits[name]])) as SandboxLimits & object
}

export interface CommandReceiptFacts {
  readonly level: ProtectionLevel
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
  /** Null if its time has no limit. */
  readonly timeoutMs: number | null
}

export function writeCommandReceipt(
  { level, limits, clamped, timeoutMs }: CommandReceiptFacts,
  { start, layers, observed, heldBy, network }: CommandEvidence,
): Receipt {
  const holds = (name: LimitName) => (sandboxLimitNames as readonly LimitName[]).includes(name)
  // Its time is the command's own, and counted by the host.
  const values = { ...perLimit((name) => (holds(name) ? limits[name] : null)), wallMs: timeoutMs }
  const by = perLimit((name) => (holds(name) ? heldBy[name] : 'none'))
  return writeReceipt(
    { start, runtime: 'shell', protection: level, limits: values, clamped },
    { layers, observed, network, heldBy: timeoutMs === null ? by : { ...by, wallMs: 'host' } },
  )
}
