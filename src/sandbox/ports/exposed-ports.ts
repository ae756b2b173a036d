/**
 * Exposes servers of a sandbox to programs of the host, each on its own port of the host. For each connection, a
 * process in the user space connects to the server and copies bytes (native/cell/files/dial.c). It is confined like a
 * guest, and nothing of the host enters the sandbox's network.
 */
import { isIP } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { noRoom } from '../../core/errors/no-room.ts'
import { endInOrder, endOnce } from '../../core/endings.ts'
import { messageOf } from '../../core/primordials.ts'
import { toHostName } from '../../jail/edge/host-names.ts'
import { PrivateFolder } from '../../jail/machine/private-folder.ts'
import { checkKeys, refuse } from '../checks.ts'
import type { Unfinished } from '../commands/unfinished.ts'
import type { FileProcess } from '../files/file-process.ts'
import { startFileTask } from '../files/start-file-task.ts'
import type { Governed } from '../governed.ts'
import type { Spaces } from '../spaces.ts'
import { PortServer } from './port-server.ts'
import type { PortPlace } from './port-server.ts'

export interface ExposePortOptions {
  /** The host address to listen on. Default 127.0.0.1, which only programs of this machine can reach. */
  readonly host?: string
  /** The port on the host. Default: a free one. */
  readonly port?: number
  /**
   * Names of this machine that requests over HTTP may have in `Host`, besides addresses, `localhost` and names below it.
   * `'any'` skips this check: then web pages can read the server's answers.
   */
  readonly hosts?: readonly string[] | 'any'
  /** Listens on a Unix socket that only this user can reach, instead of a port. */
  readonly socket?: boolean
}

/** A sandbox's server that programs of the host can reach. */
export interface ExposedPort extends AsyncDisposable {
  /** The port inside the sandbox. */
  readonly port: number
  /** `http://…` with the host's address and port, although the server may speak any protocol. `unix:…` for a socket. */
  readonly url: string
  /** Where the Unix socket is. */
  readonly socketPath?: string
  /** Closes the port and its connections. */
  close(): Promise<void>
}

export interface ExposedPortsParts {
  readonly governed: Governed
  readonly spaces: Spaces
  readonly unfinished: Unfinished
}

const portsMax = 16
const hostsMax = 64

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
    if (!isPort(port) || port === 0) throw refuse('port: must be a number from 1 to 65535')
    const { host, outside, hosts, isSocket } = checkOptions(given)
    const begun = await this.#parts.governed.beginPort(port, isSocket ? 'unix' : host)
    const server = new PortServer(() => this.#dial(port), hosts)
    let folder: PrivateFolder | undefined
    const close = endOnce(async () => {
      this.#open.delete(close)
      await server.close()
      await folder?.[Symbol.asyncDispose]()
      await begun.end({ outcome: 'done' })
    })
    try {
      this.#requireRoom()
      this.#open.add(close)
      if (isSocket) folder = await PrivateFolder.make()
      const socketPath = folder && join(folder.path, 'socket')
      await listen(server, socketPath === undefined ? { host, port: outside } : { path: socketPath })
      if (this.#isOver) throw new LazaretError('SANDBOX_GONE')
      const common = { port, close, [Symbol.asyncDispose]: close }
      return socketPath === undefined
        ? { ...common, url: urlOf(server.address) }
        : { ...common, url: `unix:${socketPath}`, socketPath }
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
      throw noRoom(`The sandbox has ${portsMax} exposed ports.`, 'Close one that is no longer needed.')
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

function checkOptions(given: ExposePortOptions | undefined) {
  const { host, port, hosts = [], socket = false } = checkKeys(given, ['host', 'port', 'hosts', 'socket'])
  const outside = port ?? 0
  if (!isPort(outside)) throw refuse('options.port: must be a number from 0 to 65535')
  if (host !== undefined && (typeof host !== 'string' || isIP(host) === 0))
    throw refuse('options.host: must be an IP address')
  if (typeof socket !== 'boolean') throw refuse('options.socket: must be true or false')
  if (socket && (host !== undefined || port !== undefined))
    throw refuse('options.socket: cannot be combined with `host` or `port`')
  // Web pages cannot reach a Unix socket.
  const names = hosts === 'any' || socket ? ('any' as const) : readNames(hosts)
  return { host: host ?? '127.0.0.1', outside, hosts: names, isSocket: socket }
}

function readNames(hosts: unknown): string[] {
  const names = Array.isArray(hosts) ? hosts.slice(0, hostsMax + 1).map((one) => toHostName(String(one))) : []
  const known = names.filter((name) => name !== undefined)
  if (Array.isArray(hosts) && known.length === hosts.length && known.length <= hostsMax) return known
  throw refuse(`options.hosts: must be 'any' or a list of up to ${hostsMax} names without ports`)
}

async function listen(server: PortServer, at: PortPlace): Promise<void> {
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
