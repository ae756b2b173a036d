/** One request and its reply, past the gate: its client, its content, and the ways to answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { HostAccount, Reservation } from '../../core/host-account.ts'
import type { ApiToken } from './api-tokens.ts'
import { readBody, whenDrained } from './body.ts'
import type { HttpBounds } from './bounds.ts'
import { EventStream } from './event-stream.ts'
import { openJson } from './json-answer.ts'
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
  readonly account: HostAccount
  readonly bounds: HttpBounds
  readonly clock: Clock
}

export type Exchange = ApiExchange

const bodyHint = 'Send less. The operator can raise the bound: `--bound bodyBytesMax=<count>`.'

/** Until it is disposed, its body and its answer count toward the bytes that its client makes the server hold. */
export class ApiExchange implements Disposable {
  readonly parts: ExchangeParts
  readonly events: EventStream
  readonly #body: Reservation
  readonly #answer: Reservation

  constructor(parts: ExchangeParts) {
    const { response, clock, id, account, token } = parts
    this.parts = parts
    this.#body = account.reserve({ client: token.name, kind: 'bodies' })
    this.#answer = account.reserve({ client: token.name, kind: 'answers' })
    const hold = (bytes: number): void => this.hold(bytes)
    this.events = new EventStream({ response, clock, headers: { 'x-request-id': id }, hold })
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

  /** Counts the bytes of the answer, before it is made and until it was taken. Throws CLIENT_QUEUE_FULL, QUEUE_FULL. */
  hold(bytes: number): void {
    this.#answer.resize(bytes)
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

  /**
   * The body as a plain object; an empty one for none. Throws INVALID_REQUEST, INPUT_TOO_LARGE, CLIENT_QUEUE_FULL,
   * QUEUE_FULL.
   */
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

  /** The body as it is. Throws INPUT_TOO_LARGE, CLIENT_QUEUE_FULL, QUEUE_FULL. */
  async readBytes(): Promise<Buffer> {
    const { request, bounds, clock } = this.parts
    const cancel = clock.after(bounds.bodyMs, () => request.destroy())
    try {
      return await readBody(request, this.#body, { bodyBytesMax: bounds.bodyBytesMax, hint: bodyHint })
    } finally {
      cancel()
    }
  }

  /**
   * Sends the whole reply, in slices that are written as the client reads. Resolves when it has read them, or is gone.
   * Throws what `hold()` throws, before the reply begins.
   */
  async reply(
    status: number,
    document?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { response, id, clock } = this.parts
    const head = { 'x-request-id': id, 'cache-control': 'no-store' }
    if (document === undefined) {
      response.writeHead(status, { ...head, ...headers }).end()
      return
    }
    const { pieces, bytes } = await openJson(document, (held) => this.hold(held))
    response.writeHead(status, {
      ...head,
      'content-type': 'application/json',
      ...(bytes !== undefined && { 'content-length': String(bytes + 1) }),
      ...headers,
    })
    for await (const piece of pieces) {
      if (response.destroyed) break
      if (!response.write(piece)) await whenDrained(response, clock)
    }
    response.end('\n')
  }

  /** JSON that all replies share, so it is not counted. */
  replyConstant(json: Buffer): void {
    const { response, id } = this.parts
    response
      .writeHead(200, {
        'x-request-id': id,
        'cache-control': 'no-store',
        'content-type': 'application/json',
        'content-length': String(json.length),
      })
      .end(json)
  }

  [Symbol.dispose](): void {
    this.events[Symbol.dispose]()
    this.#body[Symbol.dispose]()
    this.#answer[Symbol.dispose]()
  }
}
