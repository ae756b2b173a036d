/** The receipt: which walls stood and what held each limit. It says what the evidence says, and works nothing out. */
import type { LimitName, Limits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { Receipt, StartKind } from '../core/receipt.ts'
import type { Exit } from './exit.ts'

export interface ReceiptFacts {
  readonly start: StartKind
  readonly runtime: RuntimeName
  readonly protection: Protection
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
}

export function writeReceipt(
  facts: ReceiptFacts,
  exit: Pick<Exit, 'layers' | 'observed' | 'heldBy'>,
): Receipt {
  const names = Object.keys(exit.heldBy) as LimitName[]
  const entries = names.map((name) => [name, { value: facts.limits[name], by: exit.heldBy[name] }])
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
