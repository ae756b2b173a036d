/** Evidence becomes the result that every door shows. */
import type { LimitName, Limits } from '../core/limits.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import { decodeValue } from '../core/values.ts'
import { writeReceipt } from '../result/receipt.ts'
import { settle } from '../result/settle.ts'
import type { RunEnd } from '../runtimes/run-in-cell.ts'

export interface RunFacts {
  readonly id: string
  readonly queuedMs: number
  readonly runtime: RuntimeName
  readonly protection: ProtectionLevel
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
}

export function writeResult(facts: RunFacts, { exit, heldByCgroup }: RunEnd): RunResult {
  const { claims } = exit
  return {
    id: facts.id,
    outcome: settle(facts.limits, exit),
    ...(claims.value === undefined
      ? {}
      : {
          value: decodeValue(claims.value.tagged),
          valueTagged: claims.value.tagged,
          valueText: claims.value.text,
        }),
    displays: claims.displays,
    files: {},
    logs: claims.logs,
    stdout: exit.stdout,
    stderr: exit.stderr,
    truncated: exit.truncated,
    usage: {
      wallMs: exit.wallMs,
      cpuMs: exit.cpuMs,
      memoryPeakBytes: exit.memoryPeakBytes,
      queuedMs: facts.queuedMs,
      outputBytes: exit.outputBytes,
    },
    receipt: writeReceipt({ ...facts, heldByCgroup }, exit),
  }
}
