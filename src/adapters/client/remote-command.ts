/** What runs and commands share: streamed output, and a cancellation that keeps the output. */
import { fromBase64 } from '../../core/values/base64.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { OutputChunk } from '../../core/request.ts'
import { type Connection, readJson } from './connection.ts'
import { freshId, pause } from './platform.ts'
import { readEvents } from './read-events.ts'
import { toError } from './read-problem.ts'
import { requireSignal } from './write-request.ts'

/** Between attempts: a cancellation may reach the server before the work does. */
const cancelPauseMs = 20
const cancelsMax = 250

export interface RemoteWork {
  readonly path: string
  readonly json: string
  readonly wantsEvents: boolean
  readonly signal?: AbortSignal | undefined
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined
  /** Called for other events. */
  readonly onEvent?: (event: string, data: unknown, work: OpenWork) => void | Promise<void>
}

export interface OpenWork {
  /** The id under which the server knows the command. */
  readonly id: string
  /** Aborts when it is over. */
  readonly over: AbortSignal
}

/** Resolves with the server's result. */
export async function performRemotely<T>(connection: Connection, work: RemoteWork): Promise<T> {
  const { path, json, wantsEvents, signal } = work
  requireSignal(signal)
  const id = freshId()
  const over = new AbortController()
  const cancel = (): void => void cancelWork(connection, id, over)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const accept = wantsEvents ? 'text/event-stream' : 'application/json'
    const response = await connection.send({ method: 'POST', path, json, id, accept, signal: over.signal })
    return wantsEvents
      ? ((await follow(work, response, { id, over: over.signal })) as T)
      : await readJson<T>(response)
  } finally {
    signal?.removeEventListener('abort', cancel)
    over.abort()
  }
}

/** Retries until the server knows the work, or it is over. Without an answer it ends the connection, and so the work. */
async function cancelWork(connection: Connection, id: string, over: AbortController): Promise<void> {
  for (let times = 0; times < cancelsMax && !over.signal.aborted; times++) {
    try {
      await connection.send({ method: 'DELETE', path: `/v1/run/${id}` })
      return
    } catch (error) {
      if ((error as LazaretError).code !== 'NOT_FOUND') break
    }
    await pause(cancelPauseMs)
  }
  over.abort()
}

async function follow(
  { onOutput, onEvent }: RemoteWork,
  { body }: Response,
  open: OpenWork,
): Promise<unknown> {
  for await (const { event, data } of readEvents(body)) {
    if (event === 'output') await onOutput?.(toChunk(data as OutputEvent))
    else if (event === 'result') return data
    else if (event === 'error') throw toError(data)
    else await onEvent?.(event, data, open)
  }
  throw new LazaretError('CONNECTION_LOST')
}

export interface OutputEvent {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
  readonly base64?: string
  readonly atMs: number
}

const encoder = new TextEncoder()

export function toChunk({ stream, text, base64, atMs }: OutputEvent): OutputChunk {
  return { stream, text, bytes: base64 === undefined ? encoder.encode(text) : fromBase64(base64), atMs }
}
