/** Who did what, and how it ended: the interface between the governor of all work and the log. */
import type { Work } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'

export interface WorkRecord {
  readonly work: Work
  readonly end: WorkEnd
  /** From the request to the end. */
  readonly wallMs: number
}

export interface Audit {
  /** Called before any work is admitted. Rejects with AUDIT_FAILED if no work may begin now. */
  readonly ready?: () => Promise<void>
  /**
   * Called once for each piece of work, when its end is known. Rejects with AUDIT_FAILED if it could not be recorded.
   */
  record(record: WorkRecord): Promise<void>
}

export const noAudit: Audit = {
  async record() {},
}
