/** The processes of one cell on the host's side: the observer of each, and the bytes on their way to it. */
import { constants } from 'node:os'
import type { Duplex } from 'node:stream'

import { systemClock, unlessBefore } from '../../core/clock.ts'
import { exceeded } from '../../result/exit.ts'
import type { Exceeded } from '../../result/exit.ts'
import { decodeUsage } from './cell-reports.ts'
import type { StepFailure } from './cell-reports.ts'
import { PayloadWriter, frameType, held } from '../launch/frames.ts'
import type { Frame } from '../launch/frames.ts'
import { GuestChannel } from './guest-channel.ts'
import type { GuestStream, ProcessListener, SpawnSpec } from './guest-process.ts'
import { Inlet } from './inlet.ts'
import { decodeExit } from '../launch/spawn-frame.ts'

export interface GuestObserver {
  readonly listener: ProcessListener
  readonly onFailure: (failure: StepFailure) => void
}

interface Guest {
  observer: GuestObserver
  readonly stdin: Inlet
  readonly channel: { readonly stream: GuestChannel; readonly inlet: Inlet } | null
  /** Which of its streams the host leaves unread, as bits. */
  held: number
  /** Leaves all of them unread, whatever the bits say. */
  isHeld: boolean
  /** Ends the wait for its start. */
  readonly hasStarted: () => void
  /** Ends the wait for its end, once it was killed. */
  hasEnded: (() => void) | undefined
}

/** How long a process may take to execute its program, from its spawn. Usually it takes milliseconds. */
const startMs = 30_000
/** How long pid 1 may take to report that a killed process has ended. The kernel may have to free much memory. */
const killedMs = 10_000

type SendFrame = (type: number, id: number, payload?: Uint8Array) => void

const streams: Record<number, GuestStream> = { 1: 'stdout', 2: 'stderr', 3: 'state' }
const channelStream = 4

export class CellGuests {
  readonly #guests = new Map<number, Guest>()
  #isLost = false
  readonly #send: SendFrame
  readonly #onStuck: () => void

  /** `onStuck` is called when pid 1 no longer reacts. */
  constructor(send: SendFrame, onStuck: () => void) {
    this.#send = send
    this.#onStuck = onStuck
  }

  add(id: number, observer: GuestObserver, channel?: SpawnSpec['channel']): void {
    if (this.#isLost) {
      queueMicrotask(() => observer.listener.onLost?.())
      return
    }
    this.#guests.set(id, {
      observer,
      stdin: this.#openInlet(id, frameType.stdin, frameType.stdinEnd),
      channel: channel === 'own' ? this.#openChannel(id) : null,
      held: 0,
      isHeld: false,
      hasStarted: unlessBefore(systemClock, startMs, () => this.#giveUp(id)),
      hasEnded: undefined,
    })
  }

  /** Kills a process that was spawned with `adopts`, and everything that it has started. */
  killTree(id: number): void {
    this.#send(frameType.killTree, id)
    this.#expectEnd(id)
  }

  /** Kills this process alone. */
  kill(id: number): void {
    this.#send(frameType.signal, id, new PayloadWriter().u32(constants.signals.SIGKILL).finish())
    this.#expectEnd(id)
  }

  /** The host's end of the process's own channel. Null if it has none, or has ended. */
  channelOf(id: number): Duplex | null {
    return this.#guests.get(id)?.channel?.stream ?? null
  }

  holdOutput(id: number, isHeld: boolean): void {
    this.#hold(id, held.output, isHeld)
  }

  /** Its output and its channel together, so that what it writes to one stays in order with the other. */
  holdAll(id: number, isHeld: boolean): void {
    const guest = this.#guests.get(id)
    if (guest === undefined || guest.isHeld === isHeld) return
    guest.isHeld = isHeld
    this.#tellHeld(id, guest)
  }

  /** From now on another observer receives its events. False if it has ended. */
  reassign(id: number, observer: GuestObserver): boolean {
    const guest = this.#guests.get(id)
    if (guest !== undefined) guest.observer = observer
    return guest !== undefined
  }

  /** Adds to its standard input. Resolves when there is room for more, or when it will never be read. */
  async write(id: number, bytes: Uint8Array): Promise<void> {
    await this.#guests.get(id)?.stdin.write(bytes)
  }

  /** Ends its standard input after the bytes that were written. */
  endStdin(id: number): void {
    this.#guests.get(id)?.stdin.end()
  }

  /** All of its standard input. */
  giveStdin(id: number, bytes: Uint8Array): void {
    void this.write(id, bytes)
    this.endStdin(id)
  }

  /** Reports a step that failed before guest code ran. Returns false if the step belongs to the whole cell. */
  fail(id: number, failure: StepFailure): boolean {
    const guest = this.#guests.get(id)
    if (guest === undefined) return false
    // If the cell had no room for the process, no exit frame follows. Any other exit frame is ignored.
    this.#forget(id, guest)
    guest.observer.onFailure(failure)
    return true
  }

  /** The cell is gone. */
  lose(): void {
    this.#isLost = true
    for (const [id, guest] of this.#guests) {
      this.#forget(id, guest)
      guest.observer.listener.onLost?.()
    }
  }

  failAll(failure: StepFailure): void {
    for (const { observer } of this.#guests.values()) observer.onFailure(failure)
  }

  handle(frame: Frame): void {
    const { type, id, payload } = frame
    // The watchdog counts the whole cell and names no process.
    if (type === frameType.exceeded || type === frameType.usage) {
      for (const [guestId, { observer }] of this.#guests)
        if (id === 0 || id === guestId) tell(observer.listener, frame)
      return
    }
    const guest = this.#guests.get(id)
    if (guest === undefined) return
    if (type === frameType.spawned) guest.hasStarted()
    if (type === frameType.stdinTaken) guest.stdin.give(payload.readUInt32LE(0))
    if (type === frameType.channelTaken) guest.channel?.inlet.give(payload.readUInt32LE(0))
    if (type === frameType.exit) this.#forget(id, guest)
    if (type === frameType.output && payload[0] === channelStream)
      guest.channel?.stream.hear(payload.subarray(1))
    else tell(guest.observer.listener, frame)
  }

  #expectEnd(id: number): void {
    const guest = this.#guests.get(id)
    if (guest !== undefined) guest.hasEnded ??= unlessBefore(systemClock, killedMs, () => this.#onStuck())
  }

  #giveUp(id: number): void {
    this.#send(frameType.killTree, id)
    this.fail(id, { record: null, step: 'start the process in time', errno: constants.errno.ETIMEDOUT })
  }

  #forget(id: number, { stdin, channel, hasStarted, hasEnded }: Guest): void {
    this.#guests.delete(id)
    hasStarted()
    hasEnded?.()
    stdin.abandon()
    channel?.stream.finish()
  }

  #openInlet(id: number, type: number, endType: number): Inlet {
    return new Inlet({
      send: (bytes) => this.#send(type, id, bytes),
      end: () => this.#send(endType, id),
    })
  }

  #openChannel(id: number): Guest['channel'] {
    const inlet = this.#openInlet(id, frameType.channel, frameType.channelEnd)
    const stream = new GuestChannel({
      inlet,
      hold: (isHeld) => this.#hold(id, held.channel, isHeld),
      close: () => this.#send(frameType.channelClose, id),
    })
    return { stream, inlet }
  }

  /** Does nothing for a process that has ended. */
  #hold(id: number, what: number, isHeld: boolean): void {
    const guest = this.#guests.get(id)
    if (guest === undefined) return
    guest.held = isHeld ? guest.held | what : guest.held & ~what
    this.#tellHeld(id, guest)
  }

  #tellHeld(id: number, guest: Guest): void {
    const bits = guest.isHeld ? held.output | held.channel : guest.held
    this.#send(frameType.hold, id, new PayloadWriter().u32(bits).finish())
  }
}

function tell(listener: ProcessListener, { type, payload }: Frame): void {
  if (type === frameType.spawned) listener.onSpawned(payload.toString('latin1', 4), payload.readUInt32LE(0))
  else if (type === frameType.output)
    listener.onOutput(streams[payload[0] ?? 0] ?? 'stderr', payload.subarray(1))
  else if (type === frameType.exceeded) listener.onExceeded(exceededBy(payload.readUInt32LE(0)))
  else if (type === frameType.usage) listener.onUsage(decodeUsage(payload))
  else if (type === frameType.exit) listener.onExit(decodeExit(payload))
}

function exceededBy(number: number): Exceeded {
  return (exceeded as Readonly<Record<number, Exceeded>>)[number] ?? 'stdout'
}
