/** Evidence becomes the result that every door shows. */
import type { LimitName, Limits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { RunResult, Truncatable } from '../core/result.ts'
import { decodeUntrusted } from '../core/values.ts'
import { writeReceipt } from '../result/receipt.ts'
import { settle } from '../result/settle.ts'
import type { LeasedEnd } from '../pool/lease.ts'

export interface RunFacts {
  readonly id: string
  readonly queuedMs: number
  readonly runtime: RuntimeName
  readonly protection: Protection
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
}

export function writeResult(
  facts: RunFacts,
  { exit, cgroupVersion, collected, start }: Omit<LeasedEnd, 'cleaned'>,
): RunResult {
  const { claims } = exit
  const decoded = claims.value === undefined ? undefined : decodeUntrusted(claims.value.tagged)
  return {
    id: facts.id,
    outcome: settle(facts.limits, exit),
    ...(claims.value === undefined
      ? {}
      : {
          value: decoded?.value,
          valueTagged: claims.value.tagged,
          valueText: claims.value.text,
        }),
    displays: claims.displays,
    files: collected.files,
    logs: claims.logs,
    stdout: exit.stdout,
    stderr: exit.stderr,
    truncated: listTruncated(exit.truncated, {
      value: decoded?.truncated ?? false,
      files: !collected.isComplete,
    }),
    usage: {
      wallMs: exit.wallMs,
      cpuMs: exit.cpuMs,
      memoryPeakBytes: exit.memoryPeakBytes,
      queuedMs: facts.queuedMs,
      outputBytes: exit.outputBytes,
    },
    receipt: writeReceipt({ ...facts, cgroupVersion, start }, exit),
  }
}

/** What was cut on the way, and what was cut here. */
function listTruncated(
  before: readonly Truncatable[],
  here: Readonly<Partial<Record<Truncatable, boolean>>>,
): readonly Truncatable[] {
  const isCut = (what: Truncatable) => here[what] === true && !before.includes(what)
  return [...before, ...(Object.keys(here) as Truncatable[]).filter(isCut)]
}
