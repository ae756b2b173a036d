/** The server for one client: the parent process, over standard input and output. */
import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { HostAccount } from '../../core/host-account.ts'
import { availableMemory, resolveHeldBytes } from '../../policy/room-size.ts'
import { clipEnd } from '../../result/clip-text.ts'
import { subscriptionsMax } from './messages.ts'
import { StdioTransport } from './stdio-transport.ts'
import { createToolServer, type ToolHost } from './tool-server.ts'

const client = 'stdio'
/** An error may repeat parts of the message. */
const warningLengthMax = 1000

/** Resolves when the client is gone or the signal aborts, after its calls are cancelled. */
export async function serveOverStdio(host: ToolHost, signal: AbortSignal): Promise<void> {
  const account = host.account ?? new HostAccount(resolveHeldBytes({}, availableMemory))
  const transport = new StdioTransport({ input: process.stdin, output: process.stdout, account, client })
  const caller = { client, hold: transport.hold.bind(transport) }
  const handle = serveStdio(() => createToolServer(host, caller), {
    transport,
    maxSubscriptions: subscriptionsMax,
    onerror: ({ message }) =>
      host.warn(`the client sent an invalid message: ${clipEnd(message, warningLengthMax)}`),
  })
  const close = (): void => void handle.close()
  signal.addEventListener('abort', close, { once: true })
  if (signal.aborted) close()
  if (!transport.closed.aborted) await once(transport.closed, 'abort')
  signal.removeEventListener('abort', close)
}
