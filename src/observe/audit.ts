/** Who ran what, with which outcome. The hash-chained log will stand behind this seam; until then nothing is kept. */
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'

export interface Audit {
  /** Called once a run, after its outcome is known. */
  record(request: RunRequest, result: RunResult): Promise<void>
}

export const noAudit: Audit = {
  async record() {},
}
