/** Who had what done, and how it ended. The hash-chained log will stand behind this seam; until then nothing is kept. */
import type { Work, WorkEnd } from '../core/work.ts'

export interface WorkRecord {
  readonly work: Work
  readonly end: WorkEnd
  /** From the request to the end. */
  readonly wallMs: number
}

export interface Audit {
  /** Called once for each piece of work, after its end is known. */
  record(record: WorkRecord): Promise<void>
}

export const noAudit: Audit = {
  async record() {},
}
