/**
 * The host's side of launchers that a nursery forks. We connect sockets to the nursery's name, and a greeting says
 * which launcher each socket is for. Reports about a launcher arrive on the nursery's own socket, which a process with
 * a similar name cannot forge.
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import { encodeFrame, frameType } from './frames.ts'
import type { Frame } from './frames.ts'
import { holdAll } from './launcher.ts'
import type { Launcher } from './launcher.ts'

/** A launcher's descriptors for the sockets, as in native/cell/cell.h. */
const roles = { report: 1, control: 3, channel: 4 } as const

interface Child {
  readonly started: (isThere: boolean) => void
  readonly ended: (nothing: undefined) => void
  /** Whether this host waits for its end. */
  isHeld: boolean
}

/** A launcher that is being started. */
export interface Launch {
  /** Resolves with null if the nursery was lost: then nothing of this launcher is left. Never rejects. */
  readonly launcher: Promise<Launcher | null>
  /** Gives the launcher up as if the nursery had been lost, unless it has started by now. */
  giveUp(): void
}

export interface LaunchesOptions {
  /** The nursery's abstract name, without the NUL before it. */
  readonly name: string
  /** The secret that each connection sends first, if the nursery cannot see who connects. */
  readonly secret?: Uint8Array
  /** Has the nursery kill a launcher of this number. */
  readonly kill: (id: number) => void
  /** Called with whether the host waits for any launcher; if it does, the nursery's socket keeps this process alive. */
  readonly hold: (isHeld: boolean) => void
}

export class Launches {
  readonly #options: LaunchesOptions
  readonly #children = new Map<number, Child>()
  #isLost = false
  #nextId = 1

  constructor(options: LaunchesOptions) {
    this.#options = options
  }

  /** Resolves when the nursery knows what to launch; with null if it could not be reached. */
  async launch(hasChannel: boolean): Promise<Launch | null> {
    const { name, secret = new Uint8Array() } = this.#options
    const sockets = Object.entries(roles)
      .filter(([role]) => hasChannel || role !== 'channel')
      .map(([, role]) => ({ role, socket: connect({ path: `\0${name}` }) }))
    const arrivals = await Promise.all(sockets.map(({ socket }) => isConnected(socket)))
    if (this.#isLost || arrivals.includes(false)) {
      for (const { socket } of sockets) socket.destroy()
      return null
    }
    const id = this.#nextId++
    for (const { role, socket } of sockets)
      socket.write(encodeFrame(frameType.greeting, id, Uint8Array.of(role, hasChannel ? 1 : 0, ...secret)))
    const [report, control, channel = null] = sockets.map(({ socket }) => socket) as [Socket, Socket, Socket?]
    const launcher = this.#await(id, { report, control, channel })
    const started = this.#children.get(id)?.started
    return { launcher, giveUp: () => started?.(false) }
  }

  /** Whether the launcher was requested and has not been reported as ended. */
  has(id: number): boolean {
    return this.#children.has(id)
  }

  /** Handles a report of the nursery about a launcher. */
  handle({ type, id }: Frame): void {
    if (type === frameType.started) this.#children.get(id)?.started(true)
    if (type === frameType.reaped) {
      this.#children.get(id)?.ended(undefined)
      this.#children.delete(id)
      this.#holdForChildren()
    }
  }

  /** Existing launchers live on with their own sockets, and another process reaps them. */
  lose(): void {
    this.#isLost = true
    for (const { started, ended } of this.#children.values()) {
      started(false)
      ended(undefined)
    }
    this.#children.clear()
  }

  async #await(
    id: number,
    sockets: Pick<Launcher, 'report' | 'control' | 'channel'>,
  ): Promise<Launcher | null> {
    const start = Promise.withResolvers<boolean>()
    const end = Promise.withResolvers<undefined>()
    this.#children.set(id, { started: start.resolve, ended: end.resolve, isHeld: true })
    this.#holdForChildren()
    const isThere = await start.promise
    const close = () => Object.values(sockets).forEach((socket) => socket?.destroy())
    if (!isThere) {
      this.#children.delete(id)
      this.#holdForChildren()
      close()
      return null
    }
    return {
      ...sockets,
      ended: end.promise,
      hold: (isHeld) => {
        holdAll(isHeld, Object.values(sockets))
        const child = this.#children.get(id)
        if (child !== undefined) child.isHeld = isHeld
        this.#holdForChildren()
      },
      kill: () => this.#kill(id, close),
    }
  }

  #holdForChildren(): void {
    this.#options.hold([...this.#children.values()].some(({ isHeld }) => isHeld))
  }

  /** Without its parent, no one can signal a launcher safely; a cell that has lost its sockets ends on its own. */
  #kill(id: number, close: () => void): void {
    if (this.#isLost) close()
    else this.#options.kill(id)
  }
}

function isConnected(socket: Socket): Promise<boolean> {
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

/**
 * The secret for connections to a nursery in a cell. It consists of two identifiers: 244 of its 256 bits are random. It
 * is outside the pool of `Buffer`, of which it would keep 64 KiB alive as long as the cell.
 */
export function makeSecret(clock: Clock): Buffer {
  const secret = Buffer.alloc(secretBytes)
  secret.write(`${clock.id()}${clock.id()}`.replaceAll('-', ''), 'hex')
  return secret
}

const secretBytes = 32
