/** Turns evidence into the result that every adapter shows. */
import type { LimitName, Limits } from '../../core/limits.ts'
import { isIncomplete } from '../../core/missing-files.ts'
import type { Protection } from '../../core/protection.ts'
import type { Interpreter } from '../../core/receipt.ts'
import type { RuntimeName } from '../../core/request.ts'
import type { RunData } from '../../core/result.ts'
import type { LeasedEnd } from '../../pool/lease.ts'
import { writeReceipt } from '../../result/receipt.ts'
import { settle } from '../../result/settle.ts'

export interface RunFacts {
  readonly id: string
  readonly queuedMs: number
  readonly runtime: RuntimeName
  readonly interpreter?: Interpreter | undefined
  readonly protection: Protection
  readonly limits: Limits
  readonly clamped: readonly LimitName[]
}

export function writeResult(facts: RunFacts, { exit, collected, start }: LeasedEnd): RunData {
  const { claims } = exit
  return {
    id: facts.id,
    outcome: settle(facts.limits, exit),
    ...(claims.value === undefined
      ? {}
      : {
          value: claims.value.live,
          valueTagged: claims.value.tagged,
          valueText: claims.value.text,
        }),
    displays: claims.displays,
    files: collected.files,
    executables: collected.executables,
    folders: collected.folders,
    missingFiles: collected.missing,
    logs: claims.logs,
    stdout: exit.stdout,
    stderr: exit.stderr,
    truncated: isIncomplete(collected.missing) ? [...exit.truncated, 'files'] : exit.truncated,
    usage: {
      wallMs: exit.wallMs,
      cpuMs: exit.cpuMs,
      memoryPeakBytes: exit.memoryPeakBytes,
      queuedMs: facts.queuedMs,
      outputBytes: exit.outputBytes,
    },
    receipt: writeReceipt({ ...facts, start }, exit),
  }
}
