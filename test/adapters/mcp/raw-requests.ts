/** Requests to the MCP server over sockets of their own, whose answers nobody reads unless a test does. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** Sends one body. `bytes` is the length that it announces. */
export function ask(url: string, body: string, bytes = Buffer.byteLength(body)): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `accept: application/json, text/event-stream\r\ncontent-length: ${bytes}\r\n\r\n${body}`,
  )
  return socket
}

/** Everything that the server sends until it closes the connection. */
export async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  await once(socket, 'close')
  return text
}
