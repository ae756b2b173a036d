/**
 * One nursery (native/cell/nursery.c) and what was launched by it. A launcher is forked when all its sockets have
 * arrived at the nursery's name; what says so comes on a socket that the name's owner cannot forge, so nothing of a
 * run is told to whoever took the name of a nursery that has died.
 */
import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { systemClock } from '../core/clock.ts'
import { FrameDecoder, encodeFrame, frameType } from './frames.ts'
import type { Frame } from './frames.ts'
import { holdAll, spawnProgram } from './launcher.ts'
import type { Launcher } from './launcher.ts'

/** What a launcher calls the sockets: their descriptors in native/cell/cell.h. */
const roles = { report: 1, control: 3, channel: 4 } as const

/** A nursery that has not launched within this time is given up; starting a program takes some milliseconds. */
const launchMs = 5000
/** How long it may take to end when told to. */
const obedienceMs = 1000

interface Child {
  readonly started: (isThere: boolean) => void
  readonly ended: (nothing: undefined) => void
  /** Whether this host waits for its end. */
  isHeld: boolean
}

/** A launcher that is being started. */
export interface Launch {
  /** Resolves with null when the nursery was lost over it: nothing of this launcher is left then. Never rejects. */
  readonly launcher: Promise<Launcher | null>
}

export class NurseryProcess {
  /** Its abstract name, without the NUL before it. */
  readonly name = `lazaret-${systemClock.id()}`
  /** Resolves when it launches; or, when it never will, with its end. */
  readonly standing: Promise<void>
  /** Resolves when its process has been reaped. */
  readonly gone: Promise<void>
  readonly #process: ChildProcess
  readonly #control: Socket
  readonly #children = new Map<number, Child>()
  readonly #stands = Promise.withResolvers<void>()
  #isStanding = false
  #isLost = false
  #nextId = 1

  /** Throws when no process can be started. */
  constructor() {
    this.#process = spawnProgram(['ignore', 'ignore', 'ignore', 'pipe', 'ignore'])
    this.#control = this.#process.stdio[3] as Socket
    this.standing = this.#stands.promise
    this.gone = new Promise((resolve) => {
      this.#process.once('exit', () => resolve())
      this.#process.once('error', () => resolve())
    })
    void this.gone.then(() => this.#lose())
    this.#control.on('error', () => undefined)
    this.#control.once('close', () => this.#lose())
    this.#listen()
    this.#control.write(encodeFrame(frameType.nursery, 0, Buffer.from(this.name)))
    // An idle nursery keeps nobody from ending.
    this.#process.unref()
    this.#control.unref()
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isStanding(): boolean {
    return this.#isStanding && !this.#isLost
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Resolves when the nursery knows what to launch; with null when it could not be reached. */
  async launch(hasChannel: boolean): Promise<Launch | null> {
    const sockets = Object.entries(roles)
      .filter(([name]) => hasChannel || name !== 'channel')
      .map(([, role]) => ({ role, socket: connect({ path: `\0${this.name}` }) }))
    const arrivals = await Promise.all(sockets.map(({ socket }) => isConnected(socket)))
    const close = () => sockets.forEach(({ socket }) => socket.destroy())
    if (this.#isLost || arrivals.includes(false)) {
      close()
      return null
    }
    const id = this.#nextId++
    for (const { role, socket } of sockets)
      socket.write(encodeFrame(frameType.greeting, id, Uint8Array.of(role, hasChannel ? 1 : 0)))
    const [report, control, channel = null] = sockets.map(({ socket }) => socket) as [Socket, Socket, Socket?]
    return { launcher: this.#await(id, { report, control, channel }) }
  }

  /** Ends it, and not what it has launched. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#process.ref()
    this.#control.end()
    const calmDown = systemClock.after(obedienceMs, () => this.#process.kill('SIGKILL'))
    await this.gone
    calmDown()
  }

  async #await(
    id: number,
    sockets: Pick<Launcher, 'report' | 'control' | 'channel'>,
  ): Promise<Launcher | null> {
    const start = Promise.withResolvers<boolean>()
    const end = Promise.withResolvers<undefined>()
    this.#children.set(id, { started: start.resolve, ended: end.resolve, isHeld: true })
    this.#holdForChildren()
    const patience = systemClock.after(launchMs, () => this.#process.kill('SIGKILL'))
    const isThere = await start.promise
    patience()
    const close = () => Object.values(sockets).forEach((socket) => socket?.destroy())
    if (!isThere) {
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

  /** An idle nursery, and one whose launchers nobody waits for, keeps nobody from ending. */
  #holdForChildren(): void {
    if ([...this.#children.values()].some(({ isHeld }) => isHeld)) this.#control.ref()
    else this.#control.unref()
  }

  /** Without its parent nobody can hit a launcher safely; a cell that has lost its sockets ends by itself. */
  #kill(id: number, close: () => void): void {
    if (this.#isLost) close()
    else this.#control.write(encodeFrame(frameType.kill, id))
  }

  #listen(): void {
    const decoder = new FrameDecoder()
    this.#control.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk).forEach((frame) => this.#handle(frame))
      } catch {
        this.#process.kill('SIGKILL') // not what a nursery of ours would say
      }
    })
  }

  #handle({ type, id }: Frame): void {
    if (type === frameType.ready) {
      this.#isStanding = true
      this.#stands.resolve()
    }
    if (type === frameType.started) this.#children.get(id)?.started(true)
    if (type === frameType.reaped) {
      this.#children.get(id)?.ended(undefined)
      this.#children.delete(id)
      this.#holdForChildren()
    }
  }

  /** What it has launched lives on, with sockets of its own, and is the machine's init's to reap. */
  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#stands.resolve()
    this.#control.destroy()
    for (const { started, ended } of this.#children.values()) {
      started(false)
      ended(undefined)
    }
    this.#children.clear()
  }
}

function isConnected(socket: Socket): Promise<boolean> {
  socket.on('error', () => undefined)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}
