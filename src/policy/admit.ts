/**
 * May it run? The engine asks before anything is spent. Rate limits, the queue, the breaker and the validators will
 * stand behind this seam; until then everyone is admitted at once.
 */
import type { RunRequest } from '../core/request.ts'

/** Permission for one run, given back when the run is over. */
export interface Ticket extends AsyncDisposable {
  readonly queuedMs: number
}

export interface Policy {
  /** Throws a LazaretError of kind `refusal` when the request may not run. */
  admit(request: RunRequest): Promise<Ticket>
}

export const openPolicy: Policy = {
  async admit() {
    return { queuedMs: 0, async [Symbol.asyncDispose]() {} }
  },
}
