/**
 * The relay (native/relay), a child of this process. It carries the bytes of guests with a network policy, for all
 * cells of this host. For each connection it asks this process for the destination.
 */
import { systemClock, unlessBefore } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { PayloadWriter } from '../launch/frames.ts'
import type { Frame } from '../launch/frames.ts'
import { spawnRelay } from '../launch/launcher.ts'
import { makeSecret } from '../launch/launches.ts'
import { ServingProcess } from '../launch/serving-process.ts'
import { readAddress, writeAddress } from './address-ranges.ts'
import { closedBecause, doorsMax, relayFrame } from './relay-frames.ts'

/** How long it may take to start on a busy machine. */
const startMs = 20_000
/** Closing a door takes a fraction of a millisecond. */
const dropMs = 3000
const tokenBytes = 16

/** How a connection ended. */
export interface ConnectionEnd {
  readonly errno: number
  readonly because: keyof typeof closedBecause
  readonly sentBytes: number
  readonly receivedBytes: number
}

export interface Destination {
  readonly address: string
  readonly port: number
  /** Bytes that the relay sends before the guest's own. */
  readonly preface?: Uint8Array
}

/** The events of one door. Connections and questions have numbers. */
export interface DoorListener {
  onQuestion(question: number, datagram: Buffer): void
  onArrived(connection: number, to: { readonly address: string; readonly port: number }): void
  /** The relay could not connect to the address; name another one, or refuse. */
  onFailed(connection: number): void
  onConnected(connection: number): void
  onClosed(connection: number, end: ConnectionEnd): void
  /** Nothing of the door is left. `overMax` connections exceeded the limit. */
  onDropped(overMax: number): void
}

/** The budget that the doors of a run or sandbox share. */
export interface Budget {
  readonly connectionsMax: number
  /** At the time of reading. */
  readonly bytesLeft: number
}

export class RelayProcess {
  /** The abstract name of its socket, without the leading NUL. */
  readonly name = `lazaret-relay-${systemClock.id()}`
  /** What a launcher has to know to reach the relay. */
  readonly secret = makeSecret(systemClock)
  /** Resolves when it listens; rejects when it never will. */
  readonly standing: Promise<void>
  readonly #process: ServingProcess
  readonly #listening = Promise.withResolvers<void>()
  readonly #doors = new Map<number, { readonly listener: DoorListener; readonly budget: Budget }>()
  readonly #doorOf = new Map<number, number>()
  readonly #dropTimeouts = new Map<number, () => void>()
  #nextDoor = 0
  readonly #budgets = new Map<Budget, { readonly id: number; doors: number }>()
  #nextBudget = 1

  /** Throws when no process can be started. */
  constructor() {
    this.#process = new ServingProcess(spawnRelay(), {
      onFrame: (frame) => this.#handle(frame),
      onLost: () => this.#lose(),
    })
    this.standing = this.#listening.promise
    this.#say(relayFrame.open, 0, new PayloadWriter().bytes(Buffer.from(this.name)).bytes(this.secret))
    const cancel = unlessBefore(systemClock, startMs, () => this.#process.kill())
    this.standing.then(cancel, cancel)
    // Cells keep this process alive; the relay does not, once it is ready.
    this.standing.then(
      () => this.#process.hold(false),
      () => undefined,
    )
  }

  /** Resolves when its process has been reaped. */
  get gone(): Promise<void> {
    return this.#process.gone
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isLost(): boolean {
    return this.#process.isLost
  }

  /**
   * Opens a door, to which launchers may add sockets. Throws CELL_FAILED if there are too many doors or the relay is
   * gone.
   */
  admit(budget: Budget, listener: DoorListener): { readonly id: number; readonly token: Buffer } {
    const id = this.#freeDoor()
    const token = makeSecret(systemClock).subarray(0, tokenBytes)
    const { connectionsMax, bytesLeft } = budget
    this.#doors.set(id, { listener, budget })
    const payload = new PayloadWriter()
      .bytes(token)
      .u32(this.#useBudget(budget))
      .u32(connectionsMax)
      .u64(bytesLeft)
    this.#say(relayFrame.admit, id, payload)
    return { id, token }
  }

  /** Ends the door and its connections; `onDropped` follows. */
  drop(id: number): void {
    this.#say(relayFrame.drop, id)
    // A stopped relay is killed, which closes all doors, so that nobody waits for it.
    const timeout = systemClock.after(dropMs, () => {
      if (this.#doors.has(id)) this.#process.kill()
    })
    this.#dropTimeouts.set(id, timeout)
  }

  connect(connection: number, { address, port, preface }: Destination): void {
    const payload = new PayloadWriter().u32(port).bytes(writeAddress(address))
    this.#say(relayFrame.connect, connection, payload.bytes(preface ?? Buffer.alloc(0)))
  }

  refuse(connection: number): void {
    this.#say(relayFrame.refuse, connection)
  }

  answer(door: number, question: number, bytes: Uint8Array): void {
    this.#say(relayFrame.answer, door, new PayloadWriter().u32(question).bytes(bytes))
  }

  /** Ends it, and every connection with it. Resolves when it is gone. */
  end(): Promise<void> {
    return this.#process.end()
  }

  #freeDoor(): number {
    if (this.isLost || this.#doors.size >= doorsMax)
      throw new LazaretError('CELL_FAILED', {
        detail: this.isLost ? 'The network relay is gone.' : `${doorsMax} cells have a network policy.`,
      })
    const taken = new Set([...this.#doors.keys()].map(slotOf))
    const id = nextFree(this.#nextDoor, taken)
    this.#nextDoor = id + 1
    return id
  }

  /** The number of the budget. It stays in use until the last door of the budget has been dropped. */
  #useBudget(budget: Budget): number {
    const known = this.#budgets.get(budget)
    if (known !== undefined) known.doors++
    const taken = new Set([...this.#budgets.values()].map(({ id }) => slotOf(id)))
    const one = known ?? { id: nextFree(this.#nextBudget, taken), doors: 1 }
    this.#budgets.set(budget, one)
    this.#nextBudget = Math.max(this.#nextBudget, one.id + 1)
    return one.id
  }

  #releaseBudget(budget: Budget): void {
    const one = this.#budgets.get(budget)
    if (one !== undefined && --one.doors === 0) this.#budgets.delete(budget)
  }

  #say(type: number, id: number, payload?: PayloadWriter): void {
    this.#process.say(type, id, payload?.finish())
  }

  #handle({ type, id, payload }: Frame): void {
    switch (type) {
      case relayFrame.ready:
        return this.#listening.resolve()
      case relayFrame.question:
        return this.#doors
          .get(id)
          ?.listener.onQuestion(payload.readUInt32LE(0), payload.subarray(8, 8 + payload.readUInt32LE(4)))
      case relayFrame.arrived:
        return this.#arrive(id, payload)
      case relayFrame.failed:
        return this.#listenerOf(id)?.onFailed(id)
      case relayFrame.connected:
        return this.#listenerOf(id)?.onConnected(id)
      case relayFrame.closed:
        return this.#close(id, payload)
      case relayFrame.dropped: {
        const door = this.#doors.get(id)
        this.#doors.delete(id)
        this.#dropTimeouts.get(id)?.()
        this.#dropTimeouts.delete(id)
        if (door !== undefined) this.#releaseBudget(door.budget)
        return door?.listener.onDropped(payload.readUInt32LE(0))
      }
      default:
        throw new Error(`The relay sent a frame of unknown type ${type}.`)
    }
  }

  #arrive(connection: number, payload: Buffer): void {
    const door = payload.readUInt32LE(0)
    const address = readAddress(payload.subarray(12, 12 + payload.readUInt32LE(8)))
    this.#doorOf.set(connection, door)
    this.#doors.get(door)?.listener.onArrived(connection, { address, port: payload.readUInt32LE(4) })
  }

  #close(connection: number, payload: Buffer): void {
    const listener = this.#listenerOf(connection)
    this.#doorOf.delete(connection)
    const reasons = Object.keys(closedBecause) as (keyof typeof closedBecause)[]
    listener?.onClosed(connection, {
      errno: payload.readUInt32LE(0),
      because: reasons[payload.readUInt32LE(4)] ?? 'failed',
      sentBytes: Number(payload.readBigUInt64LE(8)),
      receivedBytes: Number(payload.readBigUInt64LE(16)),
    })
  }

  #listenerOf(connection: number): DoorListener | undefined {
    const door = this.#doorOf.get(connection)
    return door === undefined ? undefined : this.#doors.get(door)?.listener
  }

  /** The relay's sockets are closed, so guests have no network any more. */
  #lose(): void {
    this.#listening.reject(
      new LazaretError('CELL_FAILED', { detail: 'The network relay could not be started.' }),
    )
    const doors = [...this.#doors.values()]
    this.#doors.clear()
    this.#doorOf.clear()
    this.#budgets.clear()
    for (const cancel of this.#dropTimeouts.values()) cancel()
    this.#dropTimeouts.clear()
    for (const { listener } of doors) listener.onDropped(0)
  }
}

/** The index of an id in the relay's table. Ids increase, so that an id is not reused soon. */
const slotOf = (id: number): number => id % doorsMax

function nextFree(from: number, taken: ReadonlySet<number>): number {
  let id = from >= 2 ** 31 ? 1 : from
  while (taken.has(slotOf(id))) id++
  return id
}
