/**
 * The server for many clients, over HTTP and only on this machine. A request must have the right path, a `Host` and an
 * `Origin` of this machine, and a token if the server requires tokens.
 *
 * Stops: web pages in a browser on this machine that call the server by its address, by a name that resolves to it (DNS
 * rebinding) or with a form. Does not stop: other users of the machine, unless it requires tokens.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMcpHandler,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { type Clock, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { HostAccount, type Reservation } from '../../core/host-account.ts'
import { availableMemory, resolveHeldBytes } from '../../policy/room-size.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { cutOffLater, readBody, whenDrained } from '../http/body.ts'
import { OneAtATime } from '../http/one-at-a-time.ts'
import { AnswerWriter } from './answer-writer.ts'
import { usualBounds } from '../http/bounds.ts'
import { messageMs, refusalTo, subscriptionsMax } from './messages.ts'
import { OpenCalls } from './open-calls.ts'
import { OpenRequests } from '../http/open-requests.ts'
import { readJson } from '../http/read-json.ts'
import { findClient, type TokenEntry } from '../http/bearer-tokens.ts'
import { type Caller, createToolServer, type ToolHost } from './tool-server.ts'

export const loopback = '127.0.0.1'
const path = '/mcp'
export const bodyBytesMax = 8 * 1024 * 1024
export const connectionsMax = 512
/** A request has to arrive within this time, and its headers within `headersMs`, so that slow senders hold no connection. */
export const requestMs = 30_000
const headersMs = 10_000
/**
 * How often Node looks for late requests. Its default is twice a minute, which would give them up to twice the time.
 */
const lateMs = 1000
/** Messages of one body, which are answered one after another; newer clients send one. */
export const batchLengthMax = 32
/** The protocol's header for a session. Here a session only serves to cancel calls. */
const sessionHeader = 'mcp-session-id'

export interface HttpDoor {
  readonly host: ToolHost
  /** 0 takes any free port. */
  readonly port: number
  /** Without tokens, every user of this machine may connect. */
  readonly tokens?: readonly TokenEntry[]
}

/** The address of the server. Disposing it ends the server and every call. */
export interface HttpService extends AsyncDisposable {
  readonly url: string
}

/** Throws the system's error if it cannot listen on the port. */
export async function serveOverHttp(door: HttpDoor): Promise<HttpService> {
  const exchanges = new Exchanges(door)
  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      // With Node's default of 5 s, a busy machine may close a connection just as its client sends the next call.
      keepAliveTimeout: usualBounds.idleMs,
      connectionsCheckingInterval: lateMs,
    },
    new OneAtATime((request, response) => void exchanges.serve(request, response)).serve,
  )
  server.maxConnections = connectionsMax
  await listen(server, door.port)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${loopback}:${port}${path}`,
    async [Symbol.asyncDispose]() {
      await exchanges.end()
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      server.closeAllConnections()
      await promise
    },
  }
}

function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, loopback, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

/** A request with its caller, for the server that is created for it. */
interface Exchange extends Caller {
  readonly closed: AbortController
}

class Exchanges {
  readonly #door: HttpDoor
  readonly #clock: Clock
  readonly #handler: McpHttpHandler
  readonly #account: HostAccount
  readonly #requests = new OpenRequests()
  readonly #calls = new OpenCalls()
  readonly #open = new Set<AbortController>()

  constructor(door: HttpDoor) {
    this.#door = door
    this.#clock = door.host.clock ?? systemClock
    this.#account = door.host.account ?? new HostAccount(resolveHeldBytes({}, availableMemory))
    this.#handler = createMcpHandler(
      ({ authInfo }) => createToolServer(door.host, authInfo?.extra?.['exchange'] as Exchange),
      { maxSubscriptions: subscriptionsMax },
    )
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined)
    try {
      const client = this.#admit(request)
      if (client instanceof Refusal) refuse(response, client)
      else await this.#exchange(request, response, client)
    } catch (error) {
      if (error instanceof LazaretError) refuse(response, refusalOf(error))
      else if (!request.destroyed || !response.destroyed) {
        this.#door.host.warn(`a request failed: ${String(error)}`)
        refuse(response, { status: 500, message: 'Internal error' })
      }
    } finally {
      cutOffLater(response, this.#clock)
    }
  }

  /** Ends every call, and resolves when all of them have ended. */
  async end(): Promise<void> {
    for (const controller of this.#open) controller.abort()
    await this.#handler.close()
  }

  /** The client's name. */
  #admit({ url, method, headers }: IncomingMessage): string | Refusal {
    const { tokens } = this.#door
    const host = validateHostHeader(headers.host, localhostAllowedHostnames())
    if (!host.ok) return new Refusal(403, host.message)
    const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins())
    if (!origin.ok) return new Refusal(403, origin.message)
    if (url?.split('?')[0] !== path) return new Refusal(404, `Not found. The server is at ${path}.`)
    const client = tokens === undefined ? 'http' : findClient(tokens, headers.authorization)
    if (client === undefined)
      return new Refusal(401, 'The bearer token is missing or unknown.', { 'www-authenticate': 'Bearer' })
    // There is no stream to open with GET, and no session that DELETE could end.
    if (method !== 'POST') return new Refusal(405, 'Method not allowed.', { allow: 'POST' })
    return client
  }

  async #exchange(request: IncomingMessage, response: ServerResponse, client: string): Promise<void> {
    using open = this.#requests.begin(client)
    void open
    const session = sessionOf(request, client)
    using held = this.#account.reserve({ client, kind: 'bodies' })
    const bytes = await readBody(request, held, { bodyBytesMax })
    const message = await readJson(bytes)
    if (Array.isArray(message) && message.length > batchLengthMax)
      throw new LazaretError('INPUT_TOO_LARGE', { detail: `A batch has at most ${batchLengthMax} messages.` })
    if (session !== undefined) this.#cancelNamed(session, message)
    const closed = new AbortController()
    this.#open.add(closed)
    const close = (): void => closed.abort()
    response.once('close', close)
    using answer = this.#account.reserve({ client, kind: 'answers' })
    const writer = new AnswerWriter(response, this.#clock)
    const exchange = this.#createExchange({ client, session, closed, response, answer })
    try {
      if (isInitialize(message)) response.setHeader(sessionHeader, this.#clock.id())
      for (const one of messagesOf(message)) {
        if (writer.isOver) break
        await loopTurns.turnFor(messageMs)
        await writer.write(await this.#answer(request, exchange, { message: one, bytes }))
        answer.resize(0)
      }
      writer.end()
    } finally {
      response.off('close', close)
      this.#open.delete(closed)
    }
  }

  #answer(request: IncomingMessage, exchange: Exchange, { message, bytes }: Asked): Promise<Response> {
    return this.#handler.fetch(
      new Request(`http://${loopback}${path}`, {
        method: 'POST',
        headers: toHeaders(request),
        signal: exchange.closed.signal,
        ...(message === undefined && { body: new Uint8Array(bytes) }),
      }),
      {
        ...(message !== undefined && { parsedBody: message }),
        authInfo: { token: '', clientId: exchange.client, scopes: [], extra: { exchange } },
      },
    )
  }

  #createExchange({ client, session, closed, response, answer }: ExchangeParts): Exchange {
    return {
      client,
      closed,
      hold: (bytes) => answer.resize(bytes),
      follow: (id) => {
        if (session === undefined) return { signal: closed.signal, [Symbol.dispose]: () => undefined }
        const call = this.#calls.open(session, id)
        return {
          signal: AbortSignal.any([closed.signal, call.signal]),
          [Symbol.dispose]: () => call[Symbol.dispose](),
        }
      },
      room: () => whenDrained(response, this.#clock),
    }
  }

  #cancelNamed(session: string, message: unknown): void {
    for (const one of Array.isArray(message) ? message : [message]) {
      const { method, params } = (one ?? {}) as { method?: unknown; params?: { requestId?: unknown } }
      const id = params?.requestId
      if (method === 'notifications/cancelled' && (typeof id === 'string' || typeof id === 'number'))
        this.#calls.cancel(session, id)
    }
  }
}

interface ExchangeParts {
  readonly client: string
  readonly session: string | undefined
  readonly closed: AbortController
  readonly response: ServerResponse
  readonly answer: Reservation
}

interface Asked {
  /** Undefined if the body is not JSON. */
  readonly message: unknown
  readonly bytes: Buffer
}

/** A batch as its messages. With `initialize` it is invalid, and an empty one too: the handler says so. */
function messagesOf(message: unknown): readonly unknown[] {
  return Array.isArray(message) && message.length > 0 && !message.some(isInitialize) ? message : [message]
}

class Refusal {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status
    this.message = message
    this.headers = headers
  }
}

function refusalOf({ httpStatus, message, retryAfterMs }: LazaretError): Refusal {
  const waitsSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000)
  return new Refusal(
    httpStatus,
    message,
    waitsSeconds === undefined ? {} : { 'retry-after': String(waitsSeconds) },
  )
}

/** Answers in the protocol's format, for clients that show errors. The rest of the body is not awaited. */
function refuse(
  response: ServerResponse,
  { status, message, headers = {} }: Omit<Refusal, 'headers'> & Partial<Refusal>,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify(refusalTo(null, message))
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json', connection: 'close' })
    .end(body)
}

/** Includes the client, so that sessions of two clients never collide, whatever they send. */
function sessionOf({ headers }: IncomingMessage, client: string): string | undefined {
  const session = headers[sessionHeader]
  return typeof session === 'string' ? `${client} ${session}` : undefined
}

function isInitialize(message: unknown): boolean {
  return (message as { method?: unknown } | null | undefined)?.method === 'initialize'
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct))
    for (const value of values ?? []) headers.append(name, value)
  return headers
}
