/**
 * Running calls of older clients. In protocol revisions before 2026-07-28 a call over HTTP is cancelled by a message in a
 * separate request. A session is only the name that connects the two.
 */
import type { RequestId } from '@modelcontextprotocol/server'
import type { CallEnd } from './tool-server.ts'

export class OpenCalls {
  readonly #sessions = new Map<string, Map<RequestId, AbortController>>()

  /** Until it is disposed, `cancel` with the same session and id aborts its signal. */
  open(session: string, id: RequestId): CallEnd {
    const calls = this.#sessions.get(session) ?? new Map<RequestId, AbortController>()
    this.#sessions.set(session, calls)
    const controller = new AbortController()
    calls.set(id, controller)
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        // A careless client may have reused the id for another call.
        if (calls.get(id) === controller) calls.delete(id)
        if (calls.size === 0 && this.#sessions.get(session) === calls) this.#sessions.delete(session)
      },
    }
  }

  cancel(session: string, id: RequestId): void {
    this.#sessions.get(session)?.get(id)?.abort()
  }
}
