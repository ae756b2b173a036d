/**
 * Sends a guest's request to its host with the secrets inserted, and returns the answer with the secrets hidden. Node
 * parses the request and writes a new one, so both sides of the proxy agree where a request ends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'

import type { Connection } from './connection.ts'
import { explainMisfit, headersFrom, headersTo } from './http-headers.ts'
import type { Misfit } from './http-headers.ts'
import { FrameMaskingStream } from './frame-mask.ts'
import type { HiddenValues } from './hidden-values.ts'
import { MaskingStream } from './masker.ts'
import { placeInHeaders, placeInJson, placeInTarget } from './placed-secrets.ts'
import { requestUpstream } from './upstream.ts'

const jsonBytesMax = 1024 * 1024
const tooLarge = 'A request with a secret in its body may have at most 1 MiB.'

/** A request of a guest, and what it is answered with. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
}

export function forwardRequest(exchange: Exchange): void {
  const { request, response, connection } = exchange
  response.sendDate = false
  const misfit = misfitOf(request, connection)
  if (misfit !== undefined) return refuse(response, misfit.status, misfit.text)
  if (!wantsJson(request, connection)) return send(exchange)
  return void sendJson(exchange).catch(() => response.destroy())
}

function misfitOf(request: IncomingMessage, { admission, lacksTls }: Connection): Misfit | undefined {
  if (lacksTls !== true) return explainMisfit(request, admission)
  const { host, port } = admission.target
  const address = `${host}:${port}`
  return {
    status: 400,
    text: `${address} is reached over TLS only: use https. A secret for a host without TLS names http://${address}.`,
  }
}

async function sendJson(exchange: Exchange): Promise<void> {
  const { request, response, connection } = exchange
  const body = await collect(request, jsonBytesMax).catch(() => undefined)
  if (body === undefined) return refuse(response, 413, tooLarge)
  // One character for each byte, so that bytes that are not UTF-8 stay as they are.
  const text = placeInJson(body.toString('latin1'), connection.admission.secrets, jsonBytesMax)
  if (text === undefined) return refuse(response, 413, tooLarge)
  return send(exchange, Buffer.from(text, 'latin1'))
}

const wantsJson = ({ headers }: IncomingMessage, { admission }: Connection): boolean =>
  admission.secrets.some(({ places }) => places.includes('json')) &&
  /^application\/(?:[\w.+-]*\+)?json\b/i.test(headers['content-type'] ?? '') &&
  headers['content-encoding'] === undefined

async function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bytesMax) throw new Error('It is too large.')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** `body` replaces what the guest sent. */
function send({ request, response, connection }: Exchange, body?: Buffer): void {
  const { admission, hidden, agent } = connection
  const headers = placeInHeaders(headersTo(request.rawHeaders, { body }), admission.secrets)
  const path = placeInTarget(request.url ?? '', admission.secrets)
  const outgoing = begin(connection, { method: request.method ?? '', path, headers, agent })
  if (outgoing === undefined) return refuse(response, 400, 'This request cannot be sent.')
  const fail = (error: Error): void => {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, sayUnreachable(error, connection))
  }
  outgoing.on('error', fail)
  // A server that switches protocols without being asked to gives neither an answer nor an error.
  outgoing.once('close', () => response.headersSent || fail(new Error('There was no answer.')))
  outgoing.once('response', (answer) => {
    if (isUnreadable(answer, request.method)) {
      answer.destroy()
      refuse(
        response,
        502,
        `${admission.target.host} sent an encoding or a partial answer that the request did not ask for.`,
      )
      return
    }
    if (!writeHead(response, answer, hidden)) {
      answer.destroy()
      refuse(response, 502, `${admission.target.host} sent an answer with an invalid status or header.`)
      return
    }
    pipeline(answer, new MaskingStream(hidden), response, () => undefined)
  })
  response.once('close', () => outgoing.destroy())
  if (body !== undefined) outgoing.end(body)
  else if (hasBody(request)) pipeline(request, outgoing, () => undefined)
  else outgoing.end()
}

/** False if it cannot be written: Node parses some statuses and headers that it refuses to write. */
function writeHead(response: ServerResponse, answer: IncomingMessage, hidden: HiddenValues): boolean {
  try {
    response.writeHead(answer.statusCode ?? 0, headersFrom(answer.rawHeaders, hidden))
    response.flushHeaders()
    return true
  } catch {
    return false
  }
}

function begin(
  { admission }: Connection,
  outgoing: Parameters<typeof requestUpstream>[1],
): ReturnType<typeof requestUpstream> | undefined {
  try {
    return requestUpstream(admission, outgoing)
  } catch {
    return undefined
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Whether secrets could not be found in the answer, because it is encoded or partial. */
function isUnreadable({ statusCode, headers }: IncomingMessage, method: string | undefined): boolean {
  if (statusCode === 206 || isOther(headers['transfer-encoding'], 'chunked')) return true
  const isBodiless = method === 'HEAD' || statusCode === 204 || statusCode === 304
  return !isBodiless && isOther(headers['content-encoding'], 'identity')
}

const isOther = (written: string | undefined, only: string): boolean =>
  written !== undefined && written.toLowerCase() !== only

/** The reason is Node's error code for the connection. */
function sayUnreachable(error: NodeJS.ErrnoException, { admission, onUnreachable }: Connection): string {
  onUnreachable(admission)
  return `${admission.target.host} could not be reached: ${error.code ?? 'it took too long'}.`
}

function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return
  const body = `Lazaret: ${text}\n`
  response.writeHead(status, [
    'Content-Type',
    'text/plain',
    'Content-Length',
    String(body.length),
    'Connection',
    'close',
  ])
  response.end(body)
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Only WebSockets: the contents of any other protocol could not be searched for secrets. */
export function forwardUpgrade({ request, socket, head }: Upgrade, connection: Connection): void {
  const { admission, hidden, agent } = connection
  const deny = (line: string): void => void socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`)
  socket.on('error', () => undefined)
  const misfit = misfitOf(request, connection)
  if (misfit !== undefined) return deny(`${misfit.status} Refused`)
  if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket')
    return deny('400 Bad Request')
  const headers = placeInHeaders(headersTo(request.rawHeaders, { isUpgrade: true }), admission.secrets)
  const path = placeInTarget(request.url ?? '', admission.secrets)
  const outgoing = begin(connection, { method: 'GET', path, headers, agent })
  if (outgoing === undefined) return deny('400 Bad Request')
  outgoing.on('error', (error) => {
    sayUnreachable(error, connection)
    deny('502 Bad Gateway')
  })
  outgoing.once('response', (answer) => {
    answer.destroy()
    deny(`${answer.statusCode ?? 502} Refused`)
  })
  outgoing.once('upgrade', (answer, upstream, upstreamHead) => {
    // An extension that the client did not ask for may compress the messages.
    const isPlain = answer.headers['sec-websocket-extensions'] === undefined
    if (answer.headers.upgrade?.toLowerCase() !== 'websocket' || !isPlain) {
      upstream.destroy()
      return deny('502 Bad Gateway')
    }
    const lines = headersFrom(answer.rawHeaders, hidden)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`)
    for (let i = 0; i < lines.length; i += 2) socket.write(`${lines[i]}: ${lines[i + 1]}\r\n`, 'latin1')
    socket.write('\r\n')
    if (upstreamHead.length > 0) upstream.unshift(upstreamHead)
    if (head.length > 0) socket.unshift(head)
    pipeline(socket, upstream, () => upstream.destroy())
    pipeline(upstream, new FrameMaskingStream(hidden), socket, () => socket.destroy())
    return undefined
  })
  socket.once('close', () => outgoing.destroy())
  outgoing.end()
}
