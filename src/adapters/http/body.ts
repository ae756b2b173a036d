/** Bodies of HTTP messages: read whole within bounds, and written no faster than the client reads. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'

/** A client that reads nothing for this long is considered gone or hostile. */
export const stallMs = 30_000

/**
 * This much of each body is not counted: a client whose large bodies take its share can still send short requests. The
 * bounds on connections bound these bytes, too.
 */
export const freeBodyBytes = 16 * 1024

/** Reads a whole body, counted as it arrives. Throws INPUT_TOO_LARGE, and what `held.resize()` throws. */
export async function readBody(
  request: IncomingMessage,
  held: Reservation,
  { bodyBytesMax, hint }: { readonly bodyBytesMax: number; readonly hint?: string },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax)
      throw new LazaretError('INPUT_TOO_LARGE', {
        detail: `A body has at most ${bodyBytesMax} bytes.`,
        ...(hint !== undefined && { hint }),
      })
    held.resize(Math.max(0, bytes - freeBodyBytes))
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Disconnects a client that does not read the rest of a reply that was written completely. */
export function cutOffLater(target: ServerResponse, clock: Clock): void {
  if (target.closed || !target.writableEnded) return
  const cancel = clock.after(stallMs, () => target.destroy())
  target.once('close', cancel)
}

/** Resolves when the client has read what was written, or is gone. A client that stops reading is disconnected. */
export async function whenDrained(target: ServerResponse, clock: Clock): Promise<void> {
  if (!target.writableNeedDrain || target.destroyed) return
  const gone = new AbortController()
  const close = (): void => gone.abort()
  target.once('close', close)
  const cancel = clock.after(stallMs, () => target.destroy())
  try {
    await once(target, 'drain', { signal: gone.signal })
  } catch {
    // The client is gone.
  } finally {
    cancel()
    target.off('close', close)
  }
}
