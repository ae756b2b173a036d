/** The HTTP server: one engine behind one server. It passes requests on to the engine and decides nothing itself. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { OpenEngine } from '../../engine/lazaret.ts'
import { routes } from './routes/all-routes.ts'
import type { ApiTokens } from './api-tokens.ts'
import { cutOffLater } from './body.ts'
import { answerAllowed, isFromAllowed } from './browsers/cors.ts'
import { isConsolePath, isNavigation, serveConsole } from './browsers/console-files.ts'
import type { HttpBounds } from './bounds.ts'
import { usualBounds } from './bounds.ts'
import { ApiExchange } from './exchange.ts'
import { requireNoTokenInAddress, requireOwnHost, requireOwnName, requireToken } from './gate.ts'
import { HeldSandboxes } from './held-sandboxes.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { OpenRequests } from './open-requests.ts'
import { OpenRuns } from './open-runs.ts'
import { toLazaretError, toProblem } from './problem.ts'
import { Quotas } from './quotas.ts'
import { type Api, findRoute } from './routes/routes.ts'
import { addressOf, boundAddresses, listen, type Place, refuseGarbage } from './server-place.ts'
import { type Metrics, serveState } from './routes/state-routes.ts'
import { Terminals } from './terminal/terminals.ts'

export interface ApiDoor {
  readonly engine: OpenEngine
  readonly version: string
  readonly tokens: ApiTokens
  readonly listen: Place
  /** In PEM. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** The names in `Host` that belong to this server. */
  readonly hostNames: readonly string[]
  /** Origins of other pages that may call it. */
  readonly origins?: readonly string[] | undefined
  /** Gets errors that cannot be sent to a client. */
  readonly warn: (message: string) => void
  readonly metrics?: Metrics | undefined
  /** Called when the answer to a request, or its connection, has ended. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  readonly bounds?: Partial<HttpBounds>
  readonly clock?: Clock
}

/** What an access log says of a request. */
export interface AnsweredRequest {
  /** When its head had arrived. */
  readonly time: string
  readonly requestId: string
  readonly method: string
  /** As the client wrote it, without the query. */
  readonly path: string
  /** 499 if the client left before the answer began. */
  readonly status: number
  /** Milliseconds until the end of the answer. */
  readonly ms: number
  /** What was sent, with the headers. */
  readonly bytes: number
  /** The client's address. `unix` at a Unix socket. */
  readonly address: string
  /** The name of its token, if that was valid. */
  readonly client?: string
  /** Requests before this one that a log had no room for. */
  readonly dropped?: number
}

/** Disposing it ends the server and all running work. */
export interface ApiService extends AsyncDisposable {
  readonly url: string
  /** Takes no new work, and resolves when running work has ended or `graceMs` have passed. */
  drain(graceMs: number): Promise<void>
}

/** How often Node looks for requests that are late. */
const lateMs = 1000
/** The time in which clients can still read the results of work that was cancelled at the end. */
const farewellMs = 1000
/** Shared by all requests: a new error, with its stack, would cost more than everything else at a request's end. */
const closedReason = new DOMException('The connection is closed.', 'AbortError')
/** The status that nginx's logs have for a client that closed its connection. */
const clientLeft = 499
/** Uploads of files may take long; a stalled client is disconnected much earlier. */
const requestMs = 600_000

/** Throws the error for an unavailable address. */
export async function serveApi(door: ApiDoor): Promise<ApiService> {
  const { clock = systemClock } = door
  const bounds = { ...usualBounds, ...door.bounds }
  const requests = new Requests(door, bounds)
  const connections = new OneAtATime((request, response) => void requests.serve(request, response))
  const answer = connections.serve
  const options = {
    maxHeaderSize: bounds.headerBytesMax,
    headersTimeout: bounds.headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: bounds.idleMs,
    connectionsCheckingInterval: lateMs,
    // Older versions of Node ignore this, and refuse an upgrade to HTTP/2 instead of answering in HTTP/1.1.
    shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
  }
  const { tls } = door
  const server =
    tls === undefined
      ? createServer(options, answer)
      : createTlsServer(
          { ...options, ...tls, handshakeTimeout: bounds.headersMs, minVersion: 'TLSv1.2' },
          answer,
        )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (connections.isServing(socket)) socket.destroy()
    else requests.terminals.open({ request, socket, head })
  })
  // A client that waits for permission to send its body (100-continue) gets it only after the gate has admitted it.
  server.on('checkContinue', answer)
  server.on('clientError', refuseGarbage)
  server.maxConnections = bounds.connectionsMax
  boundAddresses(server, bounds.connectionsPerAddressMax)
  await listen(server, door.listen)
  return {
    url: addressOf(server),
    drain: (graceMs) => requests.drain(graceMs),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Some clients never read their reply to the end.
      const cancel = clock.after(farewellMs, () => server.closeAllConnections())
      await requests.end()
      cancel()
      server.closeAllConnections()
      await closed
    },
  }
}

class Requests {
  readonly terminals: Terminals
  readonly #door: ApiDoor
  readonly #bounds: HttpBounds
  readonly #clock: Clock
  readonly #api: Api
  readonly #requests: OpenRequests
  readonly #open = new Set<{ readonly ended: Promise<void>; readonly stop: () => void }>()
  readonly #draining = new AbortController()

  constructor(door: ApiDoor, bounds: HttpBounds) {
    const { engine, version, tokens, warn, clock = systemClock } = door
    const runs = new OpenRuns()
    this.#door = door
    this.#bounds = bounds
    this.#requests = new OpenRequests(bounds.requestsPerTokenMax)
    this.#clock = clock
    const most = bounds.sandboxesPerTokenMax
    const sandboxes = new HeldSandboxes({
      ...{ clock, most, warn },
      lazaret: engine.lazaret,
      isValid: (token) => tokens.has(token),
    })
    tokens.onRevoked = (revoked) => {
      for (const token of revoked) {
        runs.cancelOf(token)
        sandboxes.endOf(token)
      }
    }
    this.#api = { engine, version, runs, sandboxes, quotas: new Quotas(clock, bounds.runningPerTokenMax) }
    const { hostNames, origins = [] } = door
    const leaving = this.#draining.signal
    this.terminals = new Terminals({ api: this.#api, tokens, hostNames, origins, clock, warn, leaving })
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = requestIdOf(request) ?? this.#clock.id()
    const closed = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const open = { ended, stop: () => closed.abort(closedReason) }
    this.#open.add(open)
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    response.setMaxListeners(0)
    response.once('close', open.stop)
    this.#noteAnswer(id, request, response)
    try {
      await this.#serve({ id, request, response, signal: closed.signal })
    } catch (error) {
      // There is no client to tell, and the work ended with its client.
      if (closed.signal.aborted && response.destroyed) return
      refuse({ id, request, response }, this.#toLazaretError(error, closed.signal))
    } finally {
      cutOffLater(response, this.#clock)
      this.#open.delete(open)
      resolve()
    }
  }

  #noteAnswer(requestId: string, request: IncomingMessage, response: ServerResponse): void {
    const { onAnswered, tokens } = this.#door
    if (onAnswered === undefined) return
    const { method = '', url = '', headers, socket } = request
    const [startedMs, sentBefore, time] = [this.#clock.now(), socket.bytesWritten, this.#clock.timestamp()]
    const client = tokens.find(headers.authorization)?.name
    const address = socket.remoteAddress ?? 'unix'
    response.once('close', () =>
      onAnswered({
        ...{ time, requestId, method, address },
        path: splitOnce(url, '?')[0],
        status: response.headersSent ? response.statusCode : clientLeft,
        ms: Math.round(this.#clock.now() - startedMs),
        bytes: socket.bytesWritten - sentBefore,
        ...(client !== undefined && { client }),
      }),
    )
  }

  async drain(graceMs: number): Promise<void> {
    this.#draining.abort()
    await this.#settledWithin(graceMs)
  }

  /** Cancels running work, and resolves when all of it has ended, or cannot end. */
  async end(): Promise<void> {
    this.#draining.abort()
    for (const { stop } of this.#open) stop()
    this.terminals.end()
    await this.#settledWithin(farewellMs)
  }

  async #settledWithin(ms: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<unknown>()
    const cancel = this.#clock.after(ms, () => resolve(undefined))
    const all = [this.terminals.ended(), ...[...this.#open].map(({ ended }) => ended)]
    await Promise.race([Promise.all(all), late])
    cancel()
  }

  async #serve({ id, request, response, signal }: Arrival): Promise<void> {
    const { tokens, hostNames, origins = [], engine, metrics } = this.#door
    const [path, search] = splitOnce(request.url ?? '', '?')
    const isProbe = path === '/healthz' || path === '/readyz'
    // A probe comes from another machine, and names whatever address it knows. The answer is one word.
    if (isConsolePath(path) && isNavigation(request)) requireOwnName(request, hostNames)
    else if (!isProbe) requireOwnHost(request, hostNames, origins)
    if (isFromAllowed(request, origins) && answerAllowed(request, response)) return undefined
    const query = new URLSearchParams(search)
    requireNoTokenInAddress(query)
    if (isConsolePath(path)) return serveConsole(path, request, response)
    if (isProbe || path === '/metrics') {
      if (!isProbe) requireToken(tokens, request.headers.authorization, 'admin')
      const state = { isDraining: this.#draining.signal.aborted, lazaret: engine.lazaret, metrics }
      return serveState(path, { request, response }, state)
    }
    const { route, params } = this.#route(request, path)
    const token = requireToken(tokens, request.headers.authorization, route.scope)
    using open = this.#requests.begin(token.name)
    void open
    if (this.#draining.signal.aborted && route.isOfOpenWork !== true) throw draining()
    if (request.headers.expect !== undefined) response.writeContinue()
    const exchange = new ApiExchange({
      ...{ id, request, response, token, params, query, signal, account: engine.account },
      ...{ bounds: this.#bounds, clock: this.#clock, draining: this.#draining.signal },
    })
    try {
      await route.serve(exchange, this.#api)
    } catch (error) {
      if (!exchange.events.hasBegun || response.destroyed) throw error
      await exchange.events.send('error', toProblem(this.#toLazaretError(error, signal), id).body)
      exchange.events.end()
    } finally {
      exchange[Symbol.dispose]()
    }
  }

  /** Work that the shutdown stopped is not a defect. */
  #toLazaretError(error: unknown, signal: AbortSignal): LazaretError {
    return signal.aborted && error === signal.reason ? draining() : toLazaretError(error, this.#door.warn)
  }

  /** Without a token, a client learns no routes. */
  #route(request: IncomingMessage, path: string): ReturnType<typeof findRoute> {
    if (this.#door.tokens.find(request.headers.authorization) === undefined)
      throw new LazaretError('UNAUTHENTICATED')
    return findRoute(routes, request.method ?? '', path)
  }
}

interface Arrival {
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

/** The rest of the body is not awaited. */
function refuse({ id, request, response }: Omit<Arrival, 'signal'>, error: LazaretError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers, body } = toProblem(error, id)
  const isRead = request.complete
  response
    .writeHead(status, {
      ...headers,
      'x-request-id': id,
      'cache-control': 'no-store',
      ...(error.code === 'METHOD_NOT_ALLOWED' && { allow: error.message.replace(/^.* It allows |\.$/g, '') }),
      ...(!isRead && { connection: 'close' }),
    })
    .end(`${JSON.stringify(body)}\n`)
}

/** A client may name its request, to refer to it later. */
function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' && /^[\w.-]{8,64}$/.test(id) ? id : undefined
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function draining(): LazaretError {
  return new LazaretError('DISPOSED', {
    message: 'The server is shutting down.',
    hint: 'Try again after it has restarted, or use another context.',
  })
}
