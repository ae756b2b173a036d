/** One request and its reply, past the gate: its client, its content, and the ways to answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { jsonSteps } from '../../core/values/json-steps.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import type { ApiToken } from './api-tokens.ts'
import { type BodyBudget, type HeldBody, whenDrained } from './body.ts'
import { EventStream } from './event-stream.ts'
import { readJson } from './read-json.ts'

export interface ExchangeParts {
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly token: ApiToken
  /** The route's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Aborts when the client is gone, or when the server ends. */
  readonly signal: AbortSignal
  /** Aborts when the server takes no new work. */
  readonly draining: AbortSignal
  readonly bodies: BodyBudget
  readonly bodyMs: number
  readonly clock: Clock
}

export type Exchange = ApiExchange

const pieceBytes = 64 * 1024

/** Until it is disposed, its bodies count toward the bytes that clients make the server hold. */
export class ApiExchange implements Disposable {
  readonly parts: ExchangeParts
  readonly events: EventStream
  readonly #bodies: HeldBody[] = []

  constructor(parts: ExchangeParts) {
    this.parts = parts
    this.events = new EventStream(parts.response, parts.clock, { 'x-request-id': parts.id })
  }

  get token(): ApiToken {
    return this.parts.token
  }

  get signal(): AbortSignal {
    return this.parts.signal
  }

  /** Whether the client wants events while the work runs. */
  get wantsEvents(): boolean {
    return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(this.parts.request.headers.accept ?? '')
  }

  param(name: string): string {
    return this.parts.params[name] ?? ''
  }

  /** The query, which may have only these names. Throws INVALID_REQUEST. */
  queryOf<Name extends string>(names: readonly Name[]): { readonly [Key in Name]?: string } {
    const known: readonly string[] = names
    const entries = [...this.parts.query]
    const unknown = entries.find(([name]) => !known.includes(name))?.[0]
    if (unknown !== undefined)
      throw new LazaretError('INVALID_REQUEST', {
        detail: `unknown key ${JSON.stringify(unknown.slice(0, 100))} in the query; known keys: ${names.join(', ') || 'none'}.`,
      })
    return Object.fromEntries(entries) as { readonly [Key in Name]?: string }
  }

  /** The body as a plain object; an empty one for none. Throws INVALID_REQUEST, INPUT_TOO_LARGE, QUEUE_FULL. */
  async readJson(): Promise<Record<string, unknown>> {
    const type = this.parts.request.headers['content-type'] ?? 'application/json'
    if (!/^application\/json\s*(;|$)/i.test(type))
      throw new LazaretError('INVALID_REQUEST', { detail: 'The body must be application/json.' })
    if ((this.parts.request.headers['content-encoding'] ?? 'identity') !== 'identity')
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'The body must not be compressed (`Content-Encoding`).',
      })
    const bytes = await this.readBytes()
    if (bytes.length === 0) return {}
    const document = await readJson(bytes)
    if (typeof document !== 'object' || document === null || Array.isArray(document))
      throw new LazaretError('INVALID_REQUEST', { detail: 'The body must be a JSON object.' })
    return document as Record<string, unknown>
  }

  /** The body as it is. Throws INPUT_TOO_LARGE, QUEUE_FULL. */
  async readBytes(): Promise<Buffer> {
    const { request, bodies, bodyMs, clock } = this.parts
    const cancel = clock.after(bodyMs, () => request.destroy())
    try {
      const body = await bodies.read(request)
      this.#bodies.push(body)
      return body.bytes
    } finally {
      cancel()
    }
  }

  /** Sends the whole reply. Resolves when the client has read it, or is gone. */
  async reply(
    status: number,
    document?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { response, id, clock } = this.parts
    const body =
      document === undefined
        ? undefined
        : [...(await loopTurns.perform(jsonSteps(document))), Buffer.from('\n')]
    response.writeHead(status, {
      'x-request-id': id,
      'cache-control': 'no-store',
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(body.reduce((sum, { length }) => sum + length, 0)),
      }),
      ...headers,
    })
    for (const piece of (body ?? []).flatMap(splitPiece))
      if (!response.destroyed && !response.write(piece)) await whenDrained(response, clock)
    response.end()
  }

  [Symbol.dispose](): void {
    this.events[Symbol.dispose]()
    for (const body of this.#bodies) body[Symbol.dispose]()
  }
}

/** So that little of it is buffered for a slow reader. */
function splitPiece(piece: Buffer): Buffer[] {
  const count = Math.ceil(piece.length / pieceBytes)
  return Array.from({ length: count }, (_, index) =>
    piece.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
}
