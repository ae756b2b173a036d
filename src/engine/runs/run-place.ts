/** Where runs take place: in cells, or in threads of this process. */
import type { LimitName, Limits } from '../../core/limits.ts'
import type { Protection } from '../../core/protection.ts'
import type { Interpreter } from '../../core/receipt.ts'
import type { RunSpec, RuntimeName } from '../../core/request.ts'
import type { LeasedEnd } from '../../pool/lease.ts'
import type { Job } from '../../runtimes/work/guest-start.ts'
import type { WarmUpRequest } from '../warm-up.ts'

/** What is decided about a run before the policy admits it. */
export interface RunPlan {
  /** The request, with the operator's defaults filled in. */
  readonly spec: RunSpec
  readonly runtime: RuntimeName
  readonly interpreter?: Interpreter | undefined
  /** The limits in force. */
  readonly limits: Limits
  /** Limits of the request, or else of the operator's defaults, that the operator's ceilings lowered. */
  readonly clamped: readonly LimitName[]
}

/** How a run ended, before `settle` decides the outcome. */
export interface PlaceEnd extends LeasedEnd {
  /** How long it waited for its worker. */
  readonly queuedMs: number
}

export interface RunPlace {
  readonly protection: Protection
  /** Throws INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE. */
  plan(spec: RunSpec): RunPlan
  /** Throws QUEUE_FULL, RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST, DISPOSED. */
  run(job: Job): Promise<PlaceEnd>
  /** Throws INVALID_REQUEST, RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE. */
  planWarmUp(request: WarmUpRequest): WarmUpPlan
}

export interface WarmUpPlan {
  readonly runtime: RuntimeName
  /** Resolves when this many workers are parked. Throws as `run` does. */
  readonly start: (count: number) => Promise<void>
}
