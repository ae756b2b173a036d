/** Where a server listens, how many connections it accepts from one address, and how it answers invalid HTTP. */
import type { Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { lstatSync, unlinkSync } from 'node:fs'

import { LazaretError } from '../../core/errors/errors.ts'
import type { ErrorCode } from '../../core/errors/errors.ts'
import { toProblem } from './problem.ts'

export type Server = HttpServer | HttpsServer
export type Place = { readonly host: string; readonly port: number } | { readonly path: string }

interface Refusal {
  /** A status of HTTP that the table of errors does not have. */
  readonly status: string
  readonly code: ErrorCode
  readonly detail: string
}

const usualRefusal: Refusal = {
  status: '400 Bad Request',
  code: 'INVALID_REQUEST',
  detail: 'This is not an HTTP request.',
}
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'INPUT_TOO_LARGE',
    detail: 'The headers are too long.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'INVALID_REQUEST',
    detail: 'It took too long to arrive.',
  },
}

/** Answers invalid, too large or too slow HTTP. */
export function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, code, detail } = refusals[error.code ?? ''] ?? usualRefusal
  const { body } = toProblem(new LazaretError(code, { detail }), '')
  const text = JSON.stringify({ ...body, status: Number(status.slice(0, 3)) })
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/problem+json\r\n`
  socket.end(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
}

export function boundAddresses(server: Server, most: number): void {
  const connections = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (connections.get(address) ?? 0) + 1
    if (count > most) {
      socket.destroy()
      return
    }
    connections.set(address, count)
    socket.once('close', () => {
      const left = (connections.get(address) ?? 1) - 1
      if (left === 0) connections.delete(address)
      else connections.set(address, left)
    })
  })
}

/** A socket left by a killed server is removed; one with a listener stays, and so does anything else. */
export async function listen(server: Server, place: Place): Promise<void> {
  try {
    await listenOnce(server, place)
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    if (!isTaken || !('path' in place) || !isSocket(place.path) || (await isAnswered(place.path))) throw error
    unlinkSync(place.path)
    await listenOnce(server, place)
  }
}

/** A connection to a regular file is refused, too. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

/** Only a socket that refuses connections has no listener. */
async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path, () => resolve(true))
  socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
  const isThere = await promise
  socket.destroy()
  return isThere
}

function listenOnce(server: Server, place: Place): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  void promise.then(() => server.off('error', reject)).catch(() => undefined)
  // Users who may write to a socket may connect to it, so its mode must be right from the start.
  const mask = process.umask(0o177)
  try {
    server.listen(place, resolve)
  } finally {
    process.umask(mask)
  }
  return promise
}

export function addressOf(server: Server): string {
  const address = server.address() as AddressInfo | string
  if (typeof address === 'string') return `unix:${address}`
  const { family, address: host, port } = address
  const scheme = server instanceof HttpsServer ? 'https' : 'http'
  return `${scheme}://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}
