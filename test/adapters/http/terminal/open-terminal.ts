/** A WebSocket to a server's terminal as any client could open it, with headers that the test chooses. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { adaToken } from '../serve-here.ts'

export interface AskedSocket {
  readonly path?: string
  readonly token?: string | null
  /** Replaces the header `Authorization`, which pages cannot send. */
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

export function socketTo(url: string, asked: AskedSocket = {}): WebSocket {
  const { path = '/v1/sandboxes/box/terminal', token = adaToken, protocols = [], headers = {} } = asked
  return new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, [...protocols], {
    headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
    perMessageDeflate: false,
  })
}

export interface Refusal {
  readonly status: number
  readonly code: unknown
  readonly text: string
}

/** The server's reply to a WebSocket that it refuses. */
export async function refusalOf(url: string, asked: AskedSocket): Promise<Refusal> {
  const socket = socketTo(url, asked)
  socket.on('error', () => undefined)
  const opened = once(socket, 'open').then(() => {
    socket.terminate()
    throw new Error(`it was let in: ${JSON.stringify(asked)}`)
  })
  const refused = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
  const [, response] = await Promise.race([refused, opened])
  opened.catch(() => undefined)
  const body = await text(response)
  socket.terminate()
  return { status: response.statusCode ?? 0, code: (JSON.parse(body) as { code: unknown }).code, text: body }
}

/** The output of the terminal up to a text that it contains. */
export async function readUntil(socket: WebSocket, wanted: string): Promise<string> {
  let seen = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const take = (data: Buffer, isBinary: boolean): void => {
    if (isBinary) seen += data.toString('utf8')
    if (seen.includes(wanted)) resolve(seen)
  }
  const lose = (code: number, reason: Buffer): void =>
    reject(new Error(`closed with ${code} ${reason.toString()} after ${JSON.stringify(seen.slice(-500))}`))
  socket.on('message', take)
  socket.on('close', lose)
  try {
    return await promise
  } finally {
    socket.off('message', take)
    socket.off('close', lose)
  }
}

export interface Closed {
  readonly code: number
  readonly reason: string
}

export async function closeOf(socket: WebSocket): Promise<Closed> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  return { code, reason: reason.toString() }
}
