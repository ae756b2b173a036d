/** A server on the host's loopback, for runs that have the host's network and for those that must not have it. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import { greeting } from './case.ts'

export interface Greeter extends AsyncDisposable {
  readonly port: number
}

export async function openGreeter(): Promise<Greeter> {
  // A guest that is killed before it has read resets the connection.
  const server = createServer((client) => client.on('error', () => undefined).end(greeting))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
