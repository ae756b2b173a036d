/** Messages of the protocol on every transport: what one costs, and the answer to one that is refused. */
import type { RequestId } from '@modelcontextprotocol/server'

/** About how long a message keeps the event loop busy, before and after its work. */
export const messageMs = 2
/** Streams of changes that a client may follow at one time. */
export const subscriptionsMax = 64

/** Without an id if the request could not be read. */
export function refusalTo(id: RequestId | null, message: string, data?: object): object {
  return { jsonrpc: '2.0', error: { code: -32_000, message, ...(data !== undefined && { data }) }, id }
}
