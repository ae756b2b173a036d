/** One connection of a guest, from its TLS handshake to its end. */
import { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { SecureContext } from 'node:tls'

import { systemClock } from '../../../core/clock.ts'
import { issueFor } from './authority.ts'
import type { Authority } from './authority.ts'
import type { Connection } from './connection.ts'
import { forwardRequest, forwardUpgrade } from './forward.ts'
import { HiddenValues } from './hidden-values.ts'
import type { PlacedSecret } from './placed-secrets.ts'
import type { Admission } from './proxy-messages.ts'
import { createAgent } from './upstream.ts'

interface Acceptance {
  readonly admission: Admission
  readonly authority: Authority
  readonly onUnreachable: (admission: Admission) => void
}

const handshakeMs = 20_000
/** An idle connection counts towards the guest's own `connectionsMax`. */
const idleMs = 120_000

const connections = new WeakMap<Socket, Connection>()
const contexts = new Map<string, SecureContext>()
/** With a wildcard, a guest can name any number of hosts. */
const contextsMax = 64
const hiddenValues = new Map<string, HiddenValues>()
/** Hosts may have different secrets; the tables of long ones take megabytes. */
const hiddenValuesMax = 4
/** Requests of one connection that wait for answers: clients rarely send more than one. */
const pipelinedMax = 16
const pipelined = new WeakMap<Socket, number>()

export function acceptConnection(socket: Socket, { admission, authority, onUnreachable }: Acceptance): void {
  const agent = createAgent(admission)
  const hidden = hiddenFor(admission.secrets)
  const connection = { admission, hidden, agent, onUnreachable }
  socket.once('close', () => agent.destroy())
  if (!admission.isEncrypted) return serve(socket, connection)
  return awaitFirstByte(socket, (first) => {
    // A method: the client speaks HTTP without TLS. It gets an answer that says so.
    if (/^[A-Z]$/i.test(first)) serve(socket, { ...connection, lacksTls: true })
    else openTls(socket, { admission, authority }, (secure) => serve(secure, connection))
  })
}

/** Calls back with the first byte, which stays in the socket. */
function awaitFirstByte(socket: Socket, onFirst: (first: string) => void): void {
  const cancel = systemClock.after(handshakeMs, () => socket.destroy())
  const read = (): void => {
    const first = socket.read(1) as Buffer | null
    if (first === null) return
    socket.off('readable', read)
    socket.off('close', cancel)
    cancel()
    socket.unshift(first)
    onFirst(first.toString('latin1'))
  }
  socket.on('readable', read)
  socket.once('close', cancel)
  read()
}

/** A client that names another host gets no certificate. One that offers only HTTP/2 gets the TLS alert for that. */
function openTls(
  socket: Socket,
  { admission, authority }: Pick<Acceptance, 'admission' | 'authority'>,
  onOpen: (secure: TLSSocket) => void,
): void {
  const { host } = admission.target
  const secureContext = contextFor(host, authority)
  const secure = new TLSSocket(socket, {
    isServer: true,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, done) =>
      name.toLowerCase() === host ? done(null, secureContext) : done(new Error('another host')),
  })
  const cancel = systemClock.after(handshakeMs, () => socket.destroy())
  secure.on('error', () => socket.destroy())
  socket.once('close', cancel)
  secure.once('secure', () => {
    cancel()
    onOpen(secure)
  })
}

function contextFor(host: string, authority: Authority): SecureContext {
  const known = contexts.get(host)
  if (known !== undefined) return known
  const { key, certificate } = issueFor(host, authority)
  const context = createSecureContext({ key, cert: certificate, minVersion: 'TLSv1.2' })
  if (contexts.size >= contextsMax) contexts.clear()
  contexts.set(host, context)
  return context
}

function hiddenFor(secrets: readonly PlacedSecret[]): HiddenValues {
  const key = secrets.map(({ placeholder }) => placeholder).join(' ')
  const known = hiddenValues.get(key)
  if (known !== undefined) return known
  const hidden = new HiddenValues(secrets.map(({ value }) => value))
  if (hiddenValues.size >= hiddenValuesMax) hiddenValues.clear()
  hiddenValues.set(key, hidden)
  return hidden
}

const http = new HttpServer({
  insecureHTTPParser: false,
  requestTimeout: 0, // an upload takes as long as it takes
  keepAliveTimeout: idleMs,
})
http.on('request', (request, response) => {
  const { socket } = request
  const waiting = (pipelined.get(socket) ?? 0) + 1
  if (socket.destroyed || waiting > pipelinedMax) {
    socket.destroy()
    return
  }
  pipelined.set(socket, waiting)
  response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
  forwardRequest({ request, response, connection: connectionOf(socket) })
})
http.on('upgrade', (request, socket, head) =>
  forwardUpgrade({ request, socket, head }, connectionOf(request.socket)),
)

function serve(socket: Socket, connection: Connection): void {
  connections.set(socket, connection)
  http.emit('connection', socket)
}

function connectionOf(socket: Socket): Connection {
  const connection = connections.get(socket)
  if (connection === undefined) throw new Error('A request came without a connection.')
  return connection
}
