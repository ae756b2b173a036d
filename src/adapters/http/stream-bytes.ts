/** A guest's bytes as a streamed reply. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { whenDrained } from './body.ts'

export interface BytesTarget {
  readonly id: string
  readonly response: ServerResponse
  readonly clock: Clock
}

export interface BytesHead {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Streams no faster than the client reads. A failure before the first byte is answered with a problem document; a later
 * one closes the connection.
 */
export async function streamBytes(
  { response, clock, id }: BytesTarget,
  content: AsyncIterable<Uint8Array>,
  { status = 200, headers = {} }: BytesHead = {},
): Promise<void> {
  const pieces = content[Symbol.asyncIterator]()
  let piece = await pieces.next()
  response.writeHead(status, {
    'x-request-id': id,
    'cache-control': 'no-store',
    // The content comes from a guest, so no browser may render it as a page.
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    ...headers,
  })
  const promised = Number(headers['content-length'] ?? Number.NaN)
  let sent = 0
  try {
    for (; piece.done !== true && !response.destroyed; piece = await pieces.next()) {
      sent += piece.value.length
      if (sent > promised) break
      if (!response.write(piece.value)) await whenDrained(response, clock)
    }
  } finally {
    await pieces.return?.()
  }
  // A file can change after it was measured: the client must not take a part for the whole.
  if (!Number.isNaN(promised) && sent !== promised) response.destroy()
  else response.end()
}
