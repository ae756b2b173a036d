/**
 * The receipt: which layers were applied and what enforced each limit. It repeats the evidence and computes nothing.
 */
import type { LimitName, Limits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { Interpreter, Receipt, StartKind } from '../core/receipt.ts'
import type { Exit } from './exit.ts'

export interface ReceiptFacts {
  readonly start: StartKind
  readonly runtime: RuntimeName
  readonly interpreter?: Interpreter | undefined
  readonly protection: Protection
  readonly limits: Readonly<Record<LimitName, Limits[LimitName]>>
  readonly clamped: readonly LimitName[]
}

export function writeReceipt(
  facts: ReceiptFacts,
  exit: Pick<Exit, 'layers' | 'observed' | 'heldBy' | 'network'>,
): Receipt {
  const names = Object.keys(exit.heldBy) as LimitName[]
  const entries = names.map((name) => [name, { value: facts.limits[name], by: exit.heldBy[name] }])
  return {
    start: facts.start,
    runtime: facts.runtime,
    ...(facts.interpreter === undefined ? {} : { interpreter: facts.interpreter }),
    protection: facts.protection,
    layers: exit.layers,
    limits: Object.fromEntries(entries) as Receipt['limits'],
    clamped: facts.clamped,
    observed: exit.observed,
    ...(exit.network === undefined ? {} : { network: exit.network }),
  }
}
