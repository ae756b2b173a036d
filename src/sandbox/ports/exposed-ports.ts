/**
 * Exposes servers of a sandbox to programs of the host, each on its own port of the host. For each connection, a
 * process in the user space connects to the server and copies bytes (native/cell/files/dial.c). It is confined like a
 * guest, and nothing of the host enters the sandbox's network.
 */
import { isIP } from 'node:net'
import type { AddressInfo } from 'node:net'

import { LazaretError } from '../../core/errors/errors.ts'
import { endInOrder, endOnce } from '../../core/endings.ts'
import { messageOf } from '../../core/primordials.ts'
import { checkKeys, refuse } from '../checks.ts'
import type { Unfinished } from '../commands/unfinished.ts'
import type { FileProcess } from '../files/file-process.ts'
import { startFileTask } from '../files/start-file-task.ts'
import type { Governed } from '../governed.ts'
import type { Spaces } from '../spaces.ts'
import { PortServer } from './port-server.ts'

export interface ExposePortOptions {
  /** The host address to listen on. Default 127.0.0.1, which only programs of this machine can reach. */
  readonly host?: string
  /** The port on the host. Default: a free one. */
  readonly port?: number
}

/** A sandbox's server that programs of the host can reach. */
export interface ExposedPort extends AsyncDisposable {
  /** The port inside the sandbox. */
  readonly port: number
  /** `http://…` with the host's address and port, although the server may speak any protocol. */
  readonly url: string
  /** Closes the port and its connections. */
  close(): Promise<void>
}

export interface ExposedPortsParts {
  readonly governed: Governed
  readonly spaces: Spaces
  readonly unfinished: Unfinished
}

const portsMax = 16

export class ExposedPorts {
  readonly #parts: ExposedPortsParts
  /** Functions that close the open ports. */
  readonly #open = new Set<() => Promise<void>>()
  #isOver = false

  constructor(parts: ExposedPortsParts) {
    this.#parts = parts
  }

  /** Throws INVALID_REQUEST, QUEUE_FULL and what the policy throws. */
  async expose(port: unknown, given?: ExposePortOptions): Promise<ExposedPort> {
    const { host = '127.0.0.1', port: outside = 0 } = checkKeys(given, ['host', 'port'])
    if (!isPort(port) || port === 0) throw refuse('port: must be a number from 1 to 65535')
    if (!isPort(outside)) throw refuse('options.port: must be a number from 0 to 65535')
    if (typeof host !== 'string' || isIP(host) === 0) throw refuse('options.host: must be an IP address')
    const begun = await this.#parts.governed.beginPort(port, host)
    const server = new PortServer(() => this.#dial(port))
    const close = endOnce(async () => {
      this.#open.delete(close)
      await server.close()
      await begun.end({ outcome: 'done' })
    })
    try {
      this.#requireRoom()
      this.#open.add(close)
      await listen(server, { host, port: outside })
      if (this.#isOver) throw new LazaretError('SANDBOX_GONE')
      return { port, url: urlOf(server.address), close, [Symbol.asyncDispose]: close }
    } catch (error) {
      await begun.fail(error)
      await close()
      throw error
    }
  }

  async end(): Promise<void> {
    this.#isOver = true
    await endInOrder('The ports of a sandbox could not be closed', [...this.#open])
  }

  #requireRoom(): void {
    if (this.#open.size >= portsMax)
      throw new LazaretError('QUEUE_FULL', { detail: `The sandbox has ${portsMax} exposed ports.` })
  }

  /** Starts a process in the user space that connects to this port. */
  #dial(port: number): FileProcess {
    const { spaces, unfinished } = this.#parts
    unfinished.requireAlive()
    const process = startFileTask(spaces, { task: 'dial', args: [`${port}`], isPatient: true })
    void unfinished.during(() => process.exit).catch(() => undefined)
    return process
  }
}

const isPort = (port: unknown): port is number =>
  typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= 65_535

async function listen(
  server: PortServer,
  at: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await server.listen(at)
  } catch (cause) {
    throw new LazaretError('INVALID_REQUEST', { detail: `options.port: ${messageOf(cause)}.`, cause })
  }
}

/** A listener on all addresses can be reached on the loopback, too. */
function urlOf({ address, port, family }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return family === 'IPv6' ? `http://[${host}]:${port}` : `http://${host}:${port}`
}
