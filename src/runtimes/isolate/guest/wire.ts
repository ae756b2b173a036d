/** The worker's end of the channel: messages of the host as they come, and answers that are written before it goes on. */
import { Socket } from 'node:net'
import { channelDescriptor } from '../../channel-protocol.ts'
import { writeAll } from '../../javascript/output.ts'

const lengthBytes = 4

/** Calls back for each message, in order. The process ends with the host's end of the channel. */
export function onMessage(take: (message: unknown) => void): void {
  const socket = new Socket({ fd: channelDescriptor, readable: true, writable: false })
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      if (rest.length < lengthBytes) return
      const end = lengthBytes + rest.readUInt32LE(0)
      if (rest.length < end) return
      const json = rest.toString('utf8', lengthBytes, end)
      rest = rest.subarray(end)
      take(JSON.parse(json))
    }
  })
  socket.on('close', () => process.exit(0))
  socket.on('error', () => process.exit(0))
}

/** Written when it returns: what happens next may end the process. */
export function send(json: string): void {
  const bytes = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(lengthBytes + bytes)
  frame.writeUInt32LE(bytes)
  frame.write(json, lengthBytes, 'utf8')
  writeAll(channelDescriptor, frame)
}
