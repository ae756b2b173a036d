/** A TLS server that requires a key and echoes requests. Its own authority has issued its certificate. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { issueFor } from '../../../src/jail/edge/secrets/authority.ts'
import type { Authority, KeyAndCertificate } from '../../../src/jail/edge/secrets/authority.ts'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export class SecretApi implements AsyncDisposable {
  readonly server: Server
  readonly seen: SeenRequest[] = []
  /** If set, it answers in place of the echo. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined

  private constructor({ key, certificate }: KeyAndCertificate) {
    this.server = createServer({ key, cert: certificate }, (request, response) => {
      void this.#hear(request, response)
    })
  }

  static async open(authority: Authority, name = 'localhost'): Promise<SecretApi> {
    const api = new SecretApi(issueFor(name, authority))
    api.server.listen(0, '127.0.0.1')
    await once(api.server, 'listening')
    return api
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  get last(): SeenRequest {
    const last = this.seen.at(-1)
    if (last === undefined) throw new Error('Nobody has asked.')
    return last
  }

  async #hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await text(request).catch(() => 'broken off')
    const one = { method, url, headers: headers as Record<string, string>, body }
    this.seen.push(one)
    if (this.answer !== undefined) return this.answer(request, response)
    response.setHeader('x-echo', headers.authorization ?? 'none')
    response.end(JSON.stringify(one))
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }
}
