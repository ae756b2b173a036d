/** Bodies of HTTP messages: read whole within bounds, and written no faster than the client reads. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'

/** Bounds on the bytes of bodies that are being read or answered: clients can make the server hold no more. */
export interface BodyBounds {
  readonly bodyBytesMax: number
  /** For all bodies together. */
  readonly allBodiesBytesMax: number
}

/** A client that reads nothing for this long is considered gone or hostile. */
export const stallMs = 30_000

/** The HTTP status with which a body is refused. */
export class BodyRefused extends Error {
  readonly status: number
  readonly bound: keyof BodyBounds | undefined

  constructor(status: number, message: string, bound?: keyof BodyBounds) {
    super(message)
    this.status = status
    this.bound = bound
  }
}

/** This part of all bodies' bytes is free for each body: one client's large bodies must not refuse others' small ones. */
const freeShare = 1 / 4096

/** What all requests hold at this moment. */
export class BodyBudget {
  readonly #bounds: BodyBounds
  readonly #freeBytes: number
  #bytes = 0

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds
    this.#freeBytes = Math.floor(bounds.allBodiesBytesMax * freeShare)
  }

  async read(request: IncomingMessage): Promise<HeldBody> {
    const { bodyBytesMax, allBodiesBytesMax } = this.#bounds
    const chunks: Buffer[] = []
    let bytes = 0
    let counted = 0
    const release = (): void => {
      this.#bytes -= counted
      counted = 0
    }
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length
        const before = counted
        counted = Math.max(0, bytes - this.#freeBytes)
        this.#bytes += counted - before
        if (bytes > bodyBytesMax)
          throw new BodyRefused(413, `A body has at most ${bodyBytesMax} bytes.`, 'bodyBytesMax')
        if (counted > 0 && this.#bytes > allBodiesBytesMax)
          throw new BodyRefused(503, 'Too many large requests at one time.')
        chunks.push(chunk)
      }
    } catch (error) {
      release()
      throw error
    }
    return { bytes: Buffer.concat(chunks), [Symbol.dispose]: release }
  }
}

export interface HeldBody extends Disposable {
  readonly bytes: Buffer
}

/** Resolves when all was written or the client has gone. */
export async function writeResponse(response: Response, target: ServerResponse, clock: Clock): Promise<void> {
  target.writeHead(response.status, Object.fromEntries(response.headers))
  try {
    if (response.body !== null) await pass(response.body, target, clock)
  } catch {
    // The client must notice that the body is truncated.
    target.destroy()
  }
  target.end()
}

async function pass(body: ReadableStream<Uint8Array>, target: ServerResponse, clock: Clock): Promise<void> {
  const reader = body.getReader()
  const stop = (): void => void reader.cancel().catch(() => undefined)
  target.once('close', stop)
  try {
    let piece = await reader.read()
    while (!piece.done && !target.destroyed) {
      if (!target.write(piece.value)) await whenDrained(target, clock)
      piece = await reader.read()
    }
  } finally {
    target.off('close', stop)
  }
}

/** Disconnects a client that does not read the rest of a reply that was written completely. */
export function cutOffLater(target: ServerResponse, clock: Clock): void {
  if (target.closed || !target.writableEnded) return
  const cancel = clock.after(stallMs, () => {
    // The reply to an earlier request of the same connection is still being written.
    if (target.socket === null) cutOffLater(target, clock)
    else target.destroy()
  })
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
