/**
 * The worker's end of the channel: asynchronous reads of the host's messages, and synchronous writes.
 */
import { Socket } from 'node:net'
import { channelDescriptor } from '../../channel/channel-protocol.ts'
import { writeAll } from '../../javascript/console/output.ts'

const lengthBytes = 4

/** Calls back for each message, in order. The process exits when the host closes the channel. */
export function onMessage(take: (message: unknown) => void): void {
  const socket = new Socket({ fd: channelDescriptor, readable: true, writable: false })
  let pieces: Buffer[] = []
  let missingBytes = lengthBytes
  socket.on('data', (chunk: Buffer) => {
    // A long message arrives in many pieces. They are joined only once it is complete.
    pieces.push(chunk)
    missingBytes -= chunk.length
    if (missingBytes > 0) return
    let rest: Buffer = Buffer.concat(pieces)
    for (;;) {
      const end = lengthBytes + (rest.length < lengthBytes ? 0 : rest.readUInt32LE(0))
      missingBytes = end - rest.length
      if (missingBytes > 0) break
      const json = rest.toString('utf8', lengthBytes, end)
      rest = rest.subarray(end)
      take(JSON.parse(json))
    }
    pieces = [rest]
  })
  socket.on('close', () => process.exit(0))
  socket.on('error', () => process.exit(0))
}

/**
 * Returns when everything is written, because the process may end right after. Writes several messages at once, because each
 * write wakes the host.
 */
export function send(...messages: readonly string[]): void {
  const sizes = messages.map((json) => Buffer.byteLength(json))
  const frames = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + lengthBytes + size, 0))
  let at = 0
  messages.forEach((json, index) => {
    at = frames.writeUInt32LE(sizes[index] ?? 0, at)
    at += frames.write(json, at, 'utf8')
  })
  writeAll(channelDescriptor, frames)
}
