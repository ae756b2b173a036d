/** A real server in this process, and requests that any client could send. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ApiToken, TokenGrant, TokenScope } from '../../../src/adapters/http/api-tokens.ts'
import { ApiTokens } from '../../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../../src/adapters/http/bearer-tokens.ts'
import type { HttpBounds } from '../../../src/adapters/http/bounds.ts'
import { type ApiService, serveApi } from '../../../src/adapters/http/serve-api.ts'
import { requireDescribed, requireDescribedEvent } from './described.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { type OpenEngine, openEngine } from '../../../src/engine/lazaret.ts'
import type { LazaretOptions } from '../../../src/index.ts'

export const adaToken = 'ada-0123456789abcdef'
export const bobToken = 'bob-0123456789abcdef'

export interface HereOptions {
  readonly engine?: LazaretOptions
  readonly bounds?: Partial<HttpBounds>
  readonly scopes?: readonly TokenScope[]
  readonly allow?: readonly TokenGrant[]
  /** Further fields of ada's entry. */
  readonly ada?: Partial<ApiToken>
  /** The origins whose pages may call it. */
  readonly origins?: readonly string[]
  /** Replaces the tokens of ada and bob. */
  readonly tokens?: readonly ApiToken[]
  /** Replaces the options above. */
  readonly source?: ApiTokens
}

export interface Here extends AsyncDisposable {
  readonly service: ApiService
  readonly engine: OpenEngine
  readonly url: string
  readonly warnings: string[]
}

export function tokenOf(name: string, token: string, more: Partial<ApiToken> = {}): ApiToken {
  return { name, hash: hashOf(token), scopes: ['run', 'sandbox', 'admin'], allow: [], ...more }
}

/** Starts a server with the tokens of ada and bob. */
export async function serveHere(options: HereOptions = {}): Promise<Here> {
  const { engine: engineOptions, bounds, origins, scopes, allow, ada } = options
  const warnings: string[] = []
  const warn = (message: string): void => void warnings.push(message)
  const engine = openEngine({ minimumProtection: 'restricted', ...engineOptions })
  const entry = { ...(scopes !== undefined && { scopes }), ...(allow !== undefined && { allow }), ...ada }
  const usual = [tokenOf('ada', adaToken, entry), tokenOf('bob', bobToken)]
  const tokens =
    options.source ?? new ApiTokens({ tokens: options.tokens ?? usual }, { clock: systemClock, warn })
  const service = await serveApi({
    engine,
    version: '0',
    tokens,
    listen: { host: '127.0.0.1', port: 0 },
    hostNames: ['127.0.0.1', 'localhost'],
    warn,
    origins,
    ...(bounds !== undefined && { bounds }),
  })
  return {
    service,
    engine,
    url: service.url,
    warnings,
    async [Symbol.asyncDispose]() {
      tokens[Symbol.dispose]()
      await service[Symbol.asyncDispose]()
      await engine.lazaret[Symbol.asyncDispose]()
    },
  }
}

export interface Sent {
  readonly method?: string
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object | Uint8Array
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

/** Not `fetch`, which chooses `Host` and `Origin` itself, and normalizes paths. */
export async function send(url: string, path: string, sent: Sent = {}): Promise<Answer> {
  const response = await open(url, path, sent)
  const body = await text(response).catch(() => '')
  if (response.complete)
    requireDescribed({
      method: methodOf(sent),
      path,
      status: response.statusCode ?? 0,
      type: response.headers['content-type'],
      text: body,
    })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: body,
    json: /json/.test(response.headers['content-type'] ?? '') && body !== '' ? JSON.parse(body) : {},
  }
}

export async function open(url: string, path: string, sent: Sent = {}): Promise<IncomingMessage> {
  const { token = adaToken, headers, body } = sent
  const { hostname, port } = new URL(url)
  const isPlain = typeof body === 'object' && !(body instanceof Uint8Array)
  const content = isPlain ? JSON.stringify(body) : body
  const request = openRequest({
    hostname,
    port,
    path,
    method: methodOf(sent),
    agent: false,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  // Once the reply has begun, its reader gets any error.
  request.on('error', () => undefined)
  request.end(content)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

function methodOf({ method, body }: Sent): string {
  return method ?? (body === undefined ? 'GET' : 'POST')
}

export interface ServerEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** All events of a reply. Each has to match its description. */
export async function* eventsOf(response: IncomingMessage): AsyncGenerator<ServerEvent> {
  let held = ''
  response.setEncoding('utf8')
  for await (const piece of response as AsyncIterable<string>) {
    held += piece
    const blocks = held.split('\n\n')
    held = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, event, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
      if (event === undefined) continue
      const { method, path } = (response as IncomingMessage & { readonly req: ClientRequest }).req
      const seen: ServerEvent = { event, data: JSON.parse(data ?? '') }
      requireDescribedEvent({ method, path, ...seen })
      yield seen
    }
  }
}
