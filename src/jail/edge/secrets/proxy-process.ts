/**
 * The secret proxy of one sandbox: a separate process, which inserts the secrets into requests of guests. It terminates
 * TLS with certificates of the sandbox's authority, reads HTTP/1.1, and sends each request anew to its host.
 * Only the relay can use it: a connection begins with a ticket that the host process has announced.
 * Stops: nothing by itself. A guest cannot read its memory; the host process decides which hosts get values.
 */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createSecureContext } from 'node:tls'

import { systemClock } from '../../../core/clock.ts'
import { acceptConnection } from './accept-connection.ts'
import type { Authority } from './authority.ts'
import { ticketBytes } from './proxy-messages.ts'
import type { Admission, FromProxy, ToProxy } from './proxy-messages.ts'

/** The relay sends the ticket as soon as it is connected. */
const ticketMs = 5000
/**
 * Connections that have not sent their ticket yet. Any user of the machine can open one; it is closed if no ticket
 * arrives.
 */
const strangersMax = 64

const tell = (message: FromProxy): void => void process.send?.(message)
const expected = new Map<string, Admission>()

function open(authority: Authority, connectionsMax: number): void {
  const server = createServer((socket) => readTicket(socket, authority))
  server.maxConnections = connectionsMax + strangersMax
  server.listen(0, '127.0.0.1', () => tell({ say: 'ready', port: (server.address() as AddressInfo).port }))
}

function readTicket(socket: Socket, authority: Authority): void {
  socket.on('error', () => undefined)
  socket.setNoDelay(true)
  const cancel = systemClock.after(ticketMs, () => socket.destroy())
  const read = (): void => {
    const bytes = socket.read(ticketBytes) as Buffer | null
    if (bytes === null) return
    socket.off('readable', read)
    cancel()
    const ticket = bytes.toString('hex')
    const admission = expected.get(ticket)
    expected.delete(ticket)
    if (admission === undefined) socket.destroy()
    else acceptConnection(socket, { admission, authority, onUnreachable: reportUnreachable })
  }
  socket.on('readable', read)
  socket.once('close', cancel)
}

const reportUnreachable = ({ target }: Admission): void => tell({ say: 'unreachable', target })

/** Gives up root: from now on it only needs its sockets. */
function leaveRoot(): void {
  const nobody = 65_534
  if (process.geteuid?.() !== 0) return
  // Loads the operator's certificates first, because only root may be able to read them.
  createSecureContext()
  try {
    process.setgroups?.([])
    process.setgid?.(nobody)
    process.setuid?.(nobody)
  } catch {
    // This user namespace has no such id.
  }
}

leaveRoot()
// By default this signal opens Node's inspector to every user of the machine; other programs may run as nobody, too.
process.on('SIGUSR1', () => undefined)
process.title = 'lazaret-secrets'
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToProxy) => {
  if (message.say === 'open') return open(message.authority, message.connectionsMax)
  const { admission } = message
  expected.set(admission.ticket, admission)
  // If the guest disconnects first, its ticket is never used.
  systemClock.after(ticketMs, () => expected.delete(admission.ticket))
  return tell({ say: 'admitted', ticket: admission.ticket })
})
