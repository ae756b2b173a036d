/** The server for one client: the parent process, over standard input and output. */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createToolServer, type ToolHost } from './tool-server.ts'

/** Room for a message with the largest code and input. */
export const messageBytesMax = 20 * 1024 * 1024
/** If more output waits for a client that does not read, its next messages are not read either. */
const waitingBytesMax = 8 * 1024 * 1024

/** Resolves when the client is gone or the signal aborts, after its calls are cancelled. */
export async function serveOverStdio(host: ToolHost, signal: AbortSignal): Promise<void> {
  const transport = new WatchedTransport(Readable.from(readLines(host.warn, signal), { objectMode: false }))
  const handle = serveStdio(() => createToolServer(host, { client: 'stdio', room: () => hasRoom(signal) }), {
    transport,
    onerror: (error) => host.warn(`the client sent an invalid message: ${error.message}`),
  })
  const close = (): void => void handle.close()
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()
  await transport.isClosed
  signal.removeEventListener('abort', close)
  process.stdin.destroy()
}

class WatchedTransport extends StdioServerTransport {
  readonly #closed = Promise.withResolvers<void>()
  readonly isClosed = this.#closed.promise

  constructor(input: Readable) {
    // Room for a message and the lines that arrive in the same piece as its end.
    super(input, process.stdout, { maxBufferSize: 2 * messageBytesMax })
  }

  /** Also called at the end of the input. */
  override async close(): Promise<void> {
    await super.close()
    this.#closed.resolve()
  }
}

/** Yields whole lines, and inspects each byte only once. Ends with the client. */
async function* readLines(warn: ToolHost['warn'], signal: AbortSignal): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      if (process.stdout.writableLength > waitingBytesMax) await hasRoom(signal)
      const end = chunk.lastIndexOf('\n') + 1
      bytes += chunk.length
      if (bytes > messageBytesMax) {
        warn(`the client sent a message of more than ${messageBytesMax} bytes; the connection is closed.`)
        return
      }
      held.push(end === 0 ? chunk : chunk.subarray(0, end))
      if (end === 0) continue
      yield Buffer.concat(held)
      held = [chunk.subarray(end)]
      bytes = chunk.length - end
    }
  } catch {
    // The stream was closed, by the client or by us.
  }
}

async function hasRoom(signal: AbortSignal): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain', { signal })
}
