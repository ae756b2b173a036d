/**
 * The messages of the client over standard input and output. It has the bounds of a client over HTTP: messages take turns,
 * what they and their answers make the process hold is counted, and answers are written no faster than they are read.
 */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'
import { jsonPieces } from '../../core/values/json-steps.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { OpenRequests } from '../http/open-requests.ts'
import { readJson } from '../http/read-json.ts'
import { messageMs, refusalTo } from './messages.ts'
import { type Line, type LineSource, readLines } from './stdio-lines.ts'

export interface StdioParts extends LineSource {
  readonly output: Writable
}

/** A request until its answer is written. */
interface OpenRequest {
  readonly answer: Reservation
  readonly end: () => void
}

export class StdioTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #parts: StdioParts
  readonly #requests = new OpenRequests()
  readonly #open = new Map<RequestId, OpenRequest>()
  readonly #closed = new AbortController()
  /** The end of all messages to the client so far. */
  #sent: Promise<void> = Promise.resolve()

  constructor(parts: StdioParts) {
    this.#parts = parts
  }

  /** Aborts when the client is gone, or after `close()`. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  start(): Promise<void> {
    this.#parts.output.on('error', () => void this.close())
    void this.#readAll()
    return Promise.resolve()
  }

  /** Resolves when the client, or the kernel on its behalf, has taken it. */
  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#write(message)
    } finally {
      if (!('method' in message) && message.id !== undefined) this.#end(message.id)
    }
  }

  /** Counts the bytes of the answer to a request. Throws CLIENT_QUEUE_FULL, QUEUE_FULL. */
  hold(bytes: number, id: RequestId): void {
    this.#open.get(id)?.answer.resize(bytes)
  }

  close(): Promise<void> {
    if (this.closed.aborted) return Promise.resolve()
    this.#closed.abort()
    for (const id of this.#open.keys()) this.#end(id)
    this.#parts.input.destroy()
    this.onclose?.()
    return Promise.resolve()
  }

  async #readAll(): Promise<void> {
    try {
      for await (const line of readLines(this.#parts)) {
        await loopTurns.turnFor(messageMs)
        await this.#take(line)
      }
    } catch (error) {
      if (!this.closed.aborted) this.onerror?.(error as Error)
    }
    await this.close()
  }

  async #take(line: Line): Promise<void> {
    using held = new DisposableStack()
    held.use(line)
    try {
      const message = await parseMessage(line.bytes)
      if (isJSONRPCRequest(message)) this.#begin(message.id, held)
      // A cancellation passes answers that nobody reads, once for each request. Others wait for them.
      else if (!this.#endCancelled(message)) await this.#sent
      this.onmessage?.(message)
    } catch (error) {
      if (error instanceof LazaretError) await this.#write(refusalOf(line.id, error))
      else this.onerror?.(error as Error)
    }
  }

  /** Keeps what is held until the request ends. Throws CLIENT_QUEUE_FULL, and INVALID_REQUEST for an id that is in use. */
  #begin(id: RequestId, held: DisposableStack): void {
    const { client, account } = this.#parts
    if (this.#open.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: 'a request with this id is being answered.' })
    held.use(this.#requests.begin(client))
    const answer = held.use(account.reserve({ client, kind: 'answers' }))
    const all = held.move()
    this.#open.set(id, { answer, end: () => all.dispose() })
  }

  /** The handler does not answer a request that was cancelled. Returns whether the message cancels an open one. */
  #endCancelled(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return false
    const id = message.params?.['requestId'] as RequestId
    if (!this.#open.has(id)) return false
    this.#end(id)
    return true
  }

  #end(id: RequestId): void {
    this.#open.get(id)?.end()
    this.#open.delete(id)
  }

  async #write(message: object): Promise<void> {
    const sent = this.#sent.then(() => this.#writeNow(message))
    this.#sent = sent.catch(() => undefined)
    await sent
  }

  async #writeNow(message: object): Promise<void> {
    for await (const piece of loopTurns.stream(jsonPieces(message))) await this.#writePiece(piece)
    await this.#writePiece('\n')
  }

  async #writePiece(piece: Buffer | string): Promise<void> {
    const { output } = this.#parts
    if (!this.closed.aborted && !output.write(piece)) await once(output, 'drain', { signal: this.closed })
  }
}

/** Throws INPUT_TOO_LARGE, INVALID_REQUEST for a batch, and the protocol's error for anything else that is no message. */
async function parseMessage(bytes: Buffer): Promise<JSONRPCMessage> {
  const document = await readJson(bytes)
  if (Array.isArray(document))
    throw new LazaretError('INVALID_REQUEST', {
      detail: 'over standard input, each line is one message: no batches.',
    })
  return parseJSONRPCMessage(document)
}

function refusalOf(id: RequestId | null, { code, message, retryAfterMs }: LazaretError): object {
  return refusalTo(id, message, { code, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}
