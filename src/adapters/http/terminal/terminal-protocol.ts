/**
 * The protocol of a terminal over WebSocket. Binary frames are bytes: output from the server, keyboard input from the
 * client. Text frames are JSON: `resize` from the client, `started` and `exit` from the server.
 */
import { z } from 'zod'
import type { TerminalSize } from '../../../jail/cell/guest-process.ts'

export const protocolName = 'lazaret.terminal'
/** Pages cannot set headers for a WebSocket, and URLs are logged, so a subprotocol carries the token, in base64url. */
const tokenPrefix = 'lazaret.bearer.'

/** The largest frame from the client. */
export const frameBytesMax = 64 * 1024

const resize = z.strictObject({
  type: z.literal('resize'),
  columns: z.int().min(1).max(65_535),
  rows: z.int().min(1).max(65_535),
})

/** Undefined if it is invalid. */
export function parseResize(text: string): TerminalSize | undefined {
  try {
    const parsed = resize.safeParse(JSON.parse(text))
    return parsed.success ? { columns: parsed.data.columns, rows: parsed.data.rows } : undefined
  } catch {
    return undefined
  }
}

/** The `Authorization` of a request, or its replacement among the subprotocols. */
export function authorizationOf(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const { authorization, 'sec-websocket-protocol': offered = '' } = headers
  if (typeof authorization === 'string') return authorization
  const encoded = String(offered)
    .split(',')
    .map((one) => one.trim())
    .find((one) => one.startsWith(tokenPrefix))
    ?.slice(tokenPrefix.length)
  return encoded === undefined ? undefined : `Bearer ${Buffer.from(encoded, 'base64url').toString('utf8')}`
}
