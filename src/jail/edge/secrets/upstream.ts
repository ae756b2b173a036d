/** The secret proxy's connections to hosts: only to addresses that were checked, with the host's certificate verified. */
import { Agent as HttpAgent, request as requestPlain } from 'node:http'
import type { Agent, ClientRequest } from 'node:http'
import { Agent as HttpsAgent, request as requestEncrypted } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'

import { systemClock } from '../../../core/clock.ts'
import type { Admission } from './proxy-messages.ts'

/** One connection at a time, because the guest has one. */
export function createAgent({ isEncrypted }: Admission): Agent {
  const options = { keepAlive: true, maxSockets: 1 }
  return isEncrypted ? new HttpsAgent(options) : new HttpAgent(options)
}

interface Outgoing {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly agent: Agent
}

/** Throws for a method or path that cannot be sent. */
export function requestUpstream(admission: Admission, { headers, ...outgoing }: Outgoing): ClientRequest {
  const { target, addresses, isEncrypted, connectMs } = admission
  const send = isEncrypted ? requestEncrypted : requestPlain
  const request = send({
    ...outgoing,
    ...target,
    headers: headers as string[],
    setHost: false,
    lookup: lookupAmong(addresses),
    ...(isEncrypted && { servername: target.host, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true }),
  })
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const cancel = systemClock.after(connectMs, () => request.destroy(new Error('It took too long.')))
    socket.once(isEncrypted ? 'secureConnect' : 'connect', cancel)
    socket.once('close', cancel)
  })
  return request
}

function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_name, options, done) => {
    const [first] = all
    if (first === undefined) done(new Error('No address was checked.'), '')
    else if (options.all === true) done(null, all)
    else done(null, first.address, first.family)
  }
}
