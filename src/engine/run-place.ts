/** Where runs take place: in cells, or in threads of this process. */
import type { LimitName, Limits } from '../core/limits.ts'
import type { Protection } from '../core/protection.ts'
import type { RunSpec, RuntimeName } from '../core/request.ts'
import type { LeasedEnd } from '../pool/lease.ts'
import type { Job } from '../runtimes/guest-start.ts'
import type { WarmUpRequest } from './warm-up.ts'

/** What is decided of a run before anybody is asked whether it may begin. */
export interface RunPlan {
  /** With the operator's defaults. */
  readonly spec: RunSpec
  readonly runtime: RuntimeName
  /** Those in force. */
  readonly limits: Limits
  /** Those of the request that the operator's ceilings have lowered. */
  readonly clamped: readonly LimitName[]
}

/** How a run ended, before that is settled. */
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
  /** Resolves when so many workers wait. Throws as `run` does. */
  readonly start: (count: number) => Promise<void>
}
