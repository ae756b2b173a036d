/** The processes of one cell on the host's side: who listens to each, and the standard input that is on its way. */
import { exceeded } from '../result/exit.ts'
import type { Exceeded } from '../result/exit.ts'
import { decodeUsage } from './cell-reports.ts'
import type { StepFailure } from './cell-reports.ts'
import { frameType, stdinCreditBytes } from './frames.ts'
import type { Frame } from './frames.ts'
import type { GuestStream, ProcessListener } from './guest-process.ts'
import { decodeExit } from './spawn-frame.ts'

export interface Heard {
  readonly listener: ProcessListener
  readonly onFailure: (failure: StepFailure) => void
}

interface Guest {
  heard: Heard
  stdin: Buffer
  /** How much of it the cell has room for. */
  credit: number
  isStdinOver: boolean
  /** Resolved when the cell has taken everything. */
  taken: PromiseWithResolvers<void> | undefined
}

const streams: Record<number, GuestStream> = { 1: 'stdout', 2: 'stderr', 3: 'state' }

export class CellGuests {
  readonly #guests = new Map<number, Guest>()
  #isLost = false
  readonly #send: (type: number, id: number, payload?: Uint8Array) => void

  constructor(send: (type: number, id: number, payload?: Uint8Array) => void) {
    this.#send = send
  }

  add(id: number, heard: Heard): void {
    if (this.#isLost) {
      queueMicrotask(() => heard.listener.onLost?.())
      return
    }
    this.#guests.set(id, {
      heard,
      stdin: Buffer.alloc(0),
      credit: stdinCreditBytes,
      isStdinOver: false,
      taken: undefined,
    })
  }

  /** From now on somebody else hears of it. False when it has ended. */
  hand(id: number, heard: Heard): boolean {
    const guest = this.#guests.get(id)
    if (guest !== undefined) guest.heard = heard
    return guest !== undefined
  }

  /** Adds to its standard input. Resolves when there is room for more, and when nobody will read it. */
  async write(id: number, bytes: Uint8Array): Promise<void> {
    const guest = this.#guests.get(id)
    if (guest === undefined || guest.isStdinOver || bytes.length === 0) return
    const copy = Buffer.from(bytes)
    guest.stdin = guest.stdin.length === 0 ? copy : Buffer.concat([guest.stdin, copy])
    this.#feed(id, guest)
    if (guest.stdin.length === 0) return
    guest.taken ??= Promise.withResolvers()
    await guest.taken.promise
  }

  /** Its standard input ends behind what was written. */
  endStdin(id: number): void {
    const guest = this.#guests.get(id)
    if (guest === undefined || guest.isStdinOver) return
    guest.isStdinOver = true
    this.#feed(id, guest)
  }

  /** A step before foreign code has failed. False when it is nobody's, but the whole cell's. */
  fail(id: number, failure: StepFailure): boolean {
    const guest = this.#guests.get(id)
    if (guest === undefined) return false
    // Where there was no room for it no end follows, and of any other nobody wants to hear.
    this.#guests.delete(id)
    guest.taken?.resolve()
    guest.heard.onFailure(failure)
    return true
  }

  /** The cell is gone. */
  lose(): void {
    this.#isLost = true
    for (const [id, { heard, taken }] of this.#guests) {
      this.#guests.delete(id)
      taken?.resolve()
      heard.listener.onLost?.()
    }
  }

  failAll(failure: StepFailure): void {
    for (const { heard } of this.#guests.values()) heard.onFailure(failure)
  }

  handle(frame: Frame): void {
    const { type, id, payload } = frame
    // The watchdog counts the whole cell and names no process.
    if (type === frameType.exceeded || type === frameType.usage) {
      for (const [guestId, { heard }] of this.#guests)
        if (id === 0 || id === guestId) tell(heard.listener, frame)
      return
    }
    const guest = this.#guests.get(id)
    if (guest === undefined) return
    if (type === frameType.stdinTaken) {
      guest.credit += payload.readUInt32LE(0)
      this.#feed(id, guest)
    }
    if (type === frameType.exit) {
      this.#guests.delete(id)
      guest.taken?.resolve()
    }
    tell(guest.heard.listener, frame)
  }

  #feed(id: number, guest: Guest): void {
    const piece = guest.stdin.subarray(0, guest.credit)
    guest.stdin = guest.stdin.subarray(piece.length)
    guest.credit -= piece.length
    if (piece.length > 0) this.#send(frameType.stdin, id, piece)
    if (guest.stdin.length > 0) return
    guest.taken?.resolve()
    guest.taken = undefined
    if (guest.isStdinOver) this.#send(frameType.stdinEnd, id)
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
