/** The WebSocket server: the same gate as for every request, then one terminal for each admitted connection. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { ApiToken, ApiTokens } from '../api-tokens.ts'
import { requireNoTokenInAddress, requireOwnHost, requireToken } from '../gate.ts'
import { toLazaretError, toProblem } from '../problem.ts'
import { type Api, type FoundRoute, findRoute } from '../routes/routes.ts'
import { invalid } from '../routes/run-routes.ts'
import { TerminalLine } from './terminal-line.ts'
import { authorizationOf, frameBytesMax, protocolName } from './terminal-protocol.ts'
import { terminalRoutes } from './terminal-routes.ts'
import { type AskedTerminal, openTerminal, type Terminal } from './terminal-work.ts'

export interface TerminalsParts {
  readonly api: Api
  readonly tokens: ApiTokens
  readonly hostNames: readonly string[]
  readonly origins: readonly string[]
  readonly clock: Clock
  readonly warn: (message: string) => void
  /** Aborts when the server takes no new work. */
  readonly leaving: AbortSignal
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

const queryNames = ['columns', 'rows', 'process', 'session'] as const
const usualSize = { columns: 80, rows: 24 }

export class Terminals {
  readonly #parts: TerminalsParts
  readonly #all = new Set<Promise<void>>()
  readonly #door = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: frameBytesMax,
    // Compression would let a client spend the server's memory and time.
    perMessageDeflate: false,
    // Each frame gets a turn of the event loop: 64 KiB from a client can have ten thousand of them.
    allowSynchronousEvents: false,
    handleProtocols: (offered) => (offered.has(protocolName) ? protocolName : false),
  })

  constructor(parts: TerminalsParts) {
    this.#parts = parts
  }

  /** Answers an HTTP upgrade request. */
  open(upgrade: Upgrade): void {
    const { clock, warn } = this.#parts
    const { socket } = upgrade
    socket.on('error', () => socket.destroy())
    const opened = this.#open(upgrade).catch((error: unknown) => {
      refuse(socket, toLazaretError(error, warn), clock.id())
    })
    this.#all.add(opened)
    void opened.then(() => this.#all.delete(opened))
  }

  /** Resolves when all of them have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#all)
  }

  /** Disconnects the remaining clients. */
  end(): void {
    for (const socket of this.#door.clients) socket.terminate()
  }

  async #open({ request, socket, head }: Upgrade): Promise<void> {
    const { api, clock, leaving } = this.#parts
    const { token, params, query } = this.#admit(request)
    const asked = readAsked(query)
    const { sandbox } = api.sandboxes.find(token, params['id'] ?? '')
    using turn = api.quotas.begin(token)
    void turn
    const terminal = await openTerminal(sandbox, asked)
    const opened = await this.#shakeHands({ request, socket, head }).catch(() => undefined)
    if (opened === undefined) return terminal.abandon()
    using line = new TerminalLine(opened, clock)
    await showUntilEnd(terminal, line, leaving)
  }

  /** Throws what the gate throws, and DISPOSED when the server ends. */
  #admit(request: IncomingMessage): {
    readonly token: ApiToken
    readonly params: FoundRoute['params']
    readonly query: URLSearchParams
  } {
    const { tokens, hostNames, origins, leaving } = this.#parts
    requireOwnHost(request, hostNames, origins)
    const { url = '', headers } = request
    const at = url.indexOf('?')
    const query = new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
    requireNoTokenInAddress(query)
    const authorization = authorizationOf(headers)
    // Without a token, a client learns no routes.
    requireToken(tokens, authorization, 'any')
    if (headers.upgrade?.toLowerCase() !== 'websocket')
      throw invalid('Upgrade: must be websocket, or left out')
    const { route, params } = findRoute(
      terminalRoutes,
      request.method ?? '',
      at === -1 ? url : url.slice(0, at),
    )
    const token = requireToken(tokens, authorization, route.scope)
    if (leaving.aborted) throw new LazaretError('DISPOSED', { message: 'The server is shutting down.' })
    return { token, params, query }
  }

  /** Rejects for an invalid handshake, which `ws` then answers, or when the client has gone. */
  #shakeHands({ request, socket, head }: Upgrade): Promise<WebSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<WebSocket>()
    socket.once('close', () => reject(new LazaretError('CONNECTION_LOST')))
    if (socket.destroyed) reject(new LazaretError('CONNECTION_LOST'))
    else this.#door.handleUpgrade(request, socket, head, resolve)
    return promise
  }
}

async function showUntilEnd(terminal: Terminal, line: TerminalLine, leaving: AbortSignal): Promise<void> {
  try {
    await terminal.show(line, leaving)
  } catch {
    // Its process has ended with its sandbox.
    terminal.abandon()
    line.close(1011, '')
  }
}

/** Throws INVALID_REQUEST. */
function readAsked(query: URLSearchParams): AskedTerminal {
  const names: readonly string[] = queryNames
  const unknown = [...query.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalid(
      `unknown key ${JSON.stringify(unknown.slice(0, 100))} in the query; known keys: ${names.join(', ')}`,
    )
  const count = (name: 'columns' | 'rows'): number => {
    const text = query.get(name) ?? String(usualSize[name])
    if (!/^[1-9]\d{0,3}$/.test(text)) throw invalid(`${name}: must be a whole number from 1 to 9999`)
    return Number(text)
  }
  return {
    columns: count('columns'),
    rows: count('rows'),
    process: query.get('process') ?? undefined,
    session: query.get('session') ?? undefined,
  }
}

function refuse(socket: Duplex, error: LazaretError, id: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = toProblem(error, id)
  const text = `${JSON.stringify(body)}\n`
  const lines = Object.entries({
    ...headers,
    'x-request-id': id,
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`)
}
