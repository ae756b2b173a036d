/** Collects the facts of a run: its output and messages, the kernel's view of it, and the counts. */
import type { Truncatable } from '../../core/result.ts'
import type { CellUsage, ProcessReport } from '../../jail/cell/guest-process.ts'
import { namesOfStanding } from '../../jail/layers/layers.ts'
import type { CellPlan } from '../../jail/plan/plan.ts'
import type { Capture } from '../../result/capture.ts'
import type { Evidence, KillReason } from '../../result/exit.ts'
import type { Channel } from '../channel/channel.ts'
import { countedEvidence } from './evidence.ts'
import type { Counted } from './evidence.ts'
import { readStatus, requirePromises } from './observed.ts'

/** The sources of the facts. */
export interface RecordSources {
  readonly plan: CellPlan
  readonly counted: Counted
  readonly capture: Capture
  readonly channel: Channel | null
}

export class RunRecord {
  readonly #sources: RecordSources
  readonly #truncated = new Set<Truncatable>()
  #usage: CellUsage = { cpuMs: 0, memoryPeakBytes: 0 } // for a run whose end is not awaited
  #observed: Record<string, string> = {}
  #landlockAbi = ''

  constructor(sources: RecordSources) {
    this.#sources = sources
  }

  /** The facts of the built cell, observed from inside. */
  takeFacts(facts: Readonly<Record<string, string>>): void {
    const { landlock_abi: abi = '0', ...rest } = facts
    this.#landlockAbi = abi
    this.#observed = { ...rest, ...this.#observed }
  }

  /** The status of the guest before guest code started. Throws CELL_FAILED if a layer of its wall is missing. */
  takeStatus(status: string): void {
    Object.assign(this.#observed, readStatus(status))
    requirePromises(this.#sources.plan.promises, this.#observed)
  }

  takeUsage(usage: CellUsage): void {
    this.#usage = usage
  }

  /** The streams that were cut at the limit. */
  get cut(): readonly Truncatable[] {
    return [...this.#truncated]
  }

  takeCut(stream: Truncatable): void {
    this.#truncated.add(stream)
  }

  /** `elapsedMs` is for a run without a report. */
  conclude(report: ProcessReport | null, killReason: KillReason | null, elapsedMs: number): Evidence {
    const { counted, capture, channel, plan } = this.#sources
    return {
      ...countedEvidence(counted, report, this.#usage),
      killReason,
      wallMs: report?.elapsedMs ?? elapsedMs,
      outputBytes: capture.bytes,
      truncated: [...new Set([...this.#truncated, ...capture.cut, ...(channel?.truncated ?? [])])],
      claims: channel?.claims ?? { logs: [], displays: [] },
      observed: this.#observed,
      heldBy: counted.held.by,
      layers: namesOfStanding(plan.layers, { landlock_abi: this.#landlockAbi }),
    }
  }
}
