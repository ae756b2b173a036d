/**
 * An HTTP server on a loopback port of the host, in front of the Jupyter server of a sandbox. It forwards a request only
 * if its `Host` names this port, it comes from no page of another origin, and its token is right. It removes the token.
 * Stops: other users of the machine, web pages of other origins, DNS names that are rebound to 127.0.0.1. Does not stop:
 * the sandbox's responses, which are guest data.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Agent, createServer, request as ask } from 'node:http'
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'

import { LazaretError } from '../../core/errors/errors.ts'

export interface GateParts {
  readonly token: string
  /** A new connection to the server. */
  readonly connect: () => Promise<Duplex>
  /** The server's own `Authorization`, which replaces the client's. */
  readonly authorization: string
  /** Called for each client connection. The returned function is called when the connection closes. */
  readonly enter: () => () => void
}

/** Each connection needs a relay process in the sandbox. */
const connectionsMax = 32
/** Headers that are not forwarded: hop-by-hop headers, cookies and credentials. */
const keptHeaders = [
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-authorization', 'te', 'trailer'],
  ...['cookie', 'set-cookie', 'clear-site-data', 'authorization'],
]

export class JupyterGate {
  readonly #parts: GateParts
  readonly #server = createServer({ requestTimeout: 0 }, (request, response) =>
    this.#serve(request, response),
  )
  readonly #agent: ChannelAgent
  readonly #clients = new Set<Duplex>()
  readonly #hash: Buffer

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#hash = hashOf(parts.token)
    this.#agent = new ChannelAgent(parts.connect)
    this.#server.maxConnections = connectionsMax
    this.#server.on('connection', (socket) => {
      const leave = parts.enter()
      this.#clients.add(socket)
      socket.once('close', () => {
        this.#clients.delete(socket)
        leave()
      })
    })
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, { socket, head }))
  }

  /** Resolves when it listens. Rejects if it cannot. */
  async open(): Promise<void> {
    const opened = Promise.withResolvers<void>()
    this.#server.once('error', opened.reject)
    this.#server.listen(0, '127.0.0.1', () => opened.resolve())
    await opened.promise
  }

  get url(): string {
    return `http://${this.#host}/`
  }

  /** Resolves when it and all of its connections are closed. */
  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>()
    this.#server.close(() => closed.resolve())
    for (const client of this.#clients) client.destroy()
    this.#agent.destroy()
    await closed.promise
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0
  }

  get #host(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** The name contains the port, because browsers share cookies among all ports of a host. */
  get #cookie(): string {
    return `lazaret-jupyter-${this.#port}`
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const refused = this.#judge(request)
    if (refused !== undefined) {
      response.writeHead(refused.status, { 'content-type': 'text/plain', connection: 'close' })
      response.end(`${refused.says}\n`)
      return
    }
    const onward = this.#ask(request)
    const fail = () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502, { connection: 'close' }).end('The Jupyter server did not answer.\n')
    }
    onward.once('error', fail)
    // This also covers a server that switches protocols without a request to do so.
    onward.once('close', () => response.headersSent || fail())
    onward.once('response', (answer) => {
      try {
        response.writeHead(answer.statusCode ?? 0, this.#headersOf(answer.headers, request))
      } catch {
        // Node's parser accepts responses that Node refuses to send, such as status 099.
        answer.destroy()
        fail()
        return
      }
      pipeline(answer, response, () => undefined)
    })
    response.once('close', () => onward.destroy())
    pipeline(request, onward, () => undefined)
  }

  #upgrade(
    request: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  ): void {
    socket.on('error', () => undefined)
    const refused = this.#judge(request)
    if (refused !== undefined || request.headers.upgrade?.toLowerCase() !== 'websocket') {
      socket.end(`HTTP/1.1 ${refused?.status ?? 400} Refused\r\nconnection: close\r\n\r\n`)
      return
    }
    const onward = this.#ask(request, { connection: 'Upgrade', upgrade: 'websocket' })
    let isSwitched = false
    const refuse = () => isSwitched || socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n')
    onward.once('error', refuse)
    onward.once('close', refuse)
    onward.once('response', (answer) => {
      answer.destroy()
      refuse()
    })
    onward.once('upgrade', (answer, inside, first) => {
      isSwitched = true
      const lines = ['sec-websocket-accept', 'sec-websocket-protocol'].flatMap((name) => {
        const value = answer.headers[name]
        return typeof value === 'string' ? [`${name}: ${value}`] : []
      })
      const opening = [
        'HTTP/1.1 101 Switching Protocols',
        'connection: Upgrade',
        'upgrade: websocket',
        ...lines,
      ]
      socket.write(`${opening.join('\r\n')}\r\n\r\n`)
      socket.write(first)
      inside.write(head)
      pipeline(socket, inside, socket, () => undefined)
    })
    socket.once('close', () => onward.destroy())
    onward.end()
  }

  /** The forwarded request keeps the client's origin, and has Lazaret's credentials in place of the client's own. */
  #ask(request: IncomingMessage, own: OutgoingHttpHeaders = {}): ClientRequest {
    const { method, headers } = request
    const { searchParams, pathname } = new URL(request.url ?? '/', this.url)
    searchParams.delete('token')
    const query = searchParams.size === 0 ? '' : `?${searchParams.toString()}`
    return ask({
      agent: this.#agent,
      path: `${pathname}${query}`,
      ...(method === undefined ? {} : { method }),
      headers: {
        ...withoutKept(headers),
        ...(headers.referer !== undefined && { referer: withoutQuery(headers.referer) }),
        ...own,
        authorization: this.#parts.authorization,
      },
    })
  }

  /** Cookies of 127.0.0.1 are shared by all of its ports, so guests may not set any. */
  #headersOf(answered: IncomingHttpHeaders, request: IncomingMessage): OutgoingHttpHeaders {
    const headers = withoutKept(answered)
    if (!this.#isRight(tokenOfQuery(request, this.url))) return headers
    const cookie = `${this.#cookie}=${this.#parts.token}; HttpOnly; SameSite=Strict; Path=/`
    return { ...headers, 'set-cookie': cookie }
  }

  #judge(request: IncomingMessage): { readonly status: number; readonly says: string } | undefined {
    const { host, origin, authorization = '', cookie = '' } = request.headers
    const names = [this.#host, `localhost:${this.#port}`]
    if (host === undefined || !names.includes(host))
      return { status: 403, says: 'The Host header names another server.' }
    if ((origin !== undefined && origin !== `http://${host}`) || isOfOtherOrigin(request.headers))
      return { status: 403, says: 'Pages of other origins are refused.' }
    if (!URL.canParse(request.url ?? '', this.url) || request.url?.startsWith('/') !== true)
      return { status: 400, says: 'The request names no path.' }
    const given = [
      /^(?:token|bearer) (.+)$/i.exec(authorization)?.[1],
      tokenOfQuery(request, this.url),
      cookie
        .split('; ')
        .find((pair) => pair.startsWith(`${this.#cookie}=`))
        ?.slice(this.#cookie.length + 1),
    ]
    return given.some((one) => this.#isRight(one))
      ? undefined
      : { status: 403, says: 'The token is missing or wrong.' }
  }

  #isRight(token: string | null | undefined): boolean {
    return typeof token === 'string' && timingSafeEqual(hashOf(token), this.#hash)
  }
}

/** Each connection is the channel of a relay process in the sandbox. */
class ChannelAgent extends Agent {
  readonly #connect: () => Promise<Duplex>

  constructor(connect: () => Promise<Duplex>) {
    super({ keepAlive: true, maxTotalSockets: connectionsMax, maxFreeSockets: 4 })
    this.#connect = connect
  }

  override createConnection(
    _options: unknown,
    onCreated?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#connect().then(
      (stream) => onCreated?.(null, asSocket(stream)),
      (error: unknown) => onCreated?.(new LazaretError('CELL_FAILED', { cause: error }), undefined as never),
    )
    return undefined
  }
}

/** Adds the socket methods that Node's agent calls. They do nothing, because a channel has no such settings. */
function asSocket(stream: Duplex): Duplex {
  const nothing = () => stream
  return Object.assign(stream, {
    setKeepAlive: nothing,
    setNoDelay: nothing,
    // The same as the agent's timeout, so the agent does not set one.
    timeout: 0,
    ref: nothing,
    unref: nothing,
  })
}

/** Browsers send cookies with images and scripts for pages of other ports of this machine, and name no origin then. */
const isOfOtherOrigin = (headers: IncomingHttpHeaders): boolean =>
  ['cross-site', 'same-site'].includes(String(headers['sec-fetch-site'])) &&
  headers['sec-fetch-mode'] !== 'navigate'

/** The Referer of a client may contain the token. */
const withoutQuery = (referer: string): string => referer.split('?', 1)[0] ?? ''

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const tokenOfQuery = (request: IncomingMessage, base: string): string | null =>
  new URL(request.url ?? '/', base).searchParams.get('token')

function withoutKept(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !keptHeaders.includes(name)))
}
