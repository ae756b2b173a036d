/**
 * A cell that stands, and the host's end of its sockets. The launcher's stub is our child or our nursery's; the cell's
 * pid 1 is the stub's. To end a cell, the stub is told to kill pid 1: it is pid 1's parent, so it can never hit a stranger.
 */
import type { Duplex } from 'node:stream'

import { systemClock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { decodeFault, decodeGone, decodeUsage, parseFacts } from './cell-reports.ts'
import type { GoneReport, StepFailure } from './cell-reports.ts'
import { FrameDecoder, PayloadWriter, encodeFrame, frameType, stdinCreditBytes } from './frames.ts'
import type { Frame } from './frames.ts'
import type { BeginSpec, Exceeded, ProcessListener, SpawnSpec } from './guest-process.ts'
import type { Launcher } from './launcher.ts'
import { decodeExit, encodeBegin, encodeSpawn } from './spawn-frame.ts'

interface Guest {
  listener: ProcessListener
  stdin: Buffer
  credit: number
}

/** How long the stub may take to do as told before it is killed itself; its death kills pid 1 too. */
const obedienceMs = 1000
const putChunkBytes = 256 * 1024
const putCreates = 1
const exceeded: Record<number, Exceeded> = {
  1: 'stdout',
  2: 'memory',
  3: 'cpu',
  4: 'stderr',
  5: 'wall',
  6: 'disk',
  7: 'processes',
}

export class Cell {
  /** The guest's private channel, when it was asked for. */
  readonly channel: Duplex | null
  /** Resolves with facts observed from inside when the cell stands; rejects when it could not be built. */
  readonly ready: Promise<Readonly<Record<string, string>>>
  /** Resolves when nothing of the cell is alive and all its output has arrived. Never rejects. */
  readonly gone: Promise<GoneReport>

  /** For a cell with a nursery in it (plan-family.ts): hears what that says of its launchers. */
  onNursery: ((frame: Frame) => void) | undefined

  readonly #launcher: Launcher
  readonly #control: Duplex
  readonly #report: Duplex
  readonly #guests = new Map<number, Guest>()
  #nextId = 1
  #isPlanned = false
  #isEnding = false
  #failure: StepFailure | undefined
  #pid1: number | undefined
  #isReported = false
  #calmDown: (() => void) | undefined
  #onFailure: ((failure: StepFailure) => void) | undefined
  #alone: PromiseWithResolvers<void> | undefined

  constructor(launcher: Launcher) {
    this.#launcher = launcher
    this.#report = launcher.report
    this.#control = launcher.control
    this.channel = launcher.channel
    for (const stream of [this.#report, this.#control, this.channel]) stream?.on('error', () => undefined)
    const reportEnd = Promise.withResolvers<GoneReport>()
    const ready = Promise.withResolvers<Readonly<Record<string, string>>>()
    this.ready = ready.promise
    this.ready.catch(() => undefined)
    this.#listen(ready, reportEnd.resolve)
    this.gone = this.#awaitEnd(reportEnd)
    // Only when both sockets have been read to their end: the reason may be on the slower one.
    const wordless = new LazaretError('CELL_FAILED', { detail: 'The launcher ended without a word.' })
    void this.gone.then(() => ready.reject(wordless))
  }

  /** Host pid of the cell's pid 1, for tests and diagnosis. */
  get pid1(): number | undefined {
    return this.#pid1
  }

  /** Sends the plan. Everything sent after it waits until the cell stands. */
  sendPlan(plan: Buffer): void {
    this.#isPlanned = true
    this.#send(frameType.plan, 0, plan)
  }

  /** Has the cell's nursery kill a launcher. */
  killLauncher(id: number): void {
    this.#send(frameType.kill, id)
  }

  /** Puts a file at an absolute guest path. A refusal ends the cell. */
  put(path: string, content: Uint8Array, mode = 0o644): void {
    for (let at = 0; at === 0 || at < content.length; at += putChunkBytes) {
      const chunk = content.subarray(at, at + putChunkBytes)
      const payload = new PayloadWriter()
        .u32(at === 0 ? putCreates : 0)
        .u32(mode)
        .string(path)
        .bytes(chunk)
        .finish()
      this.#send(frameType.put, 0, payload)
    }
  }

  /**
   * Starts a process; `onFailure` hears of a step that failed, of this spawn or of the cell. Answers the process's
   * number in this cell.
   */
  spawn(spec: SpawnSpec, listener: ProcessListener, onFailure: (failure: StepFailure) => void): number {
    const id = this.#nextId++
    this.#onFailure = onFailure
    if (this.#failure !== undefined) onFailure(this.#failure)
    const stdin = spec.stdin instanceof Uint8Array ? Buffer.from(spec.stdin) : Buffer.alloc(0)
    this.#guests.set(id, { listener, stdin, credit: stdinCreditBytes })
    this.#send(frameType.spawn, id, encodeSpawn(spec))
    if (spec.stdin instanceof Uint8Array) this.#feed(id)
    return id
  }

  /**
   * The run begins for which a process was started: it has these limits from now on, and its time runs. `listener`
   * is told that it was spawned as if it had been started now. False when it has ended already.
   */
  begin(
    id: number,
    spec: BeginSpec,
    heard: { readonly listener: ProcessListener; readonly onFailure: (failure: StepFailure) => void },
  ): boolean {
    const guest = this.#guests.get(id)
    if (guest === undefined) return false
    guest.listener = heard.listener
    guest.stdin = Buffer.from(spec.stdin)
    this.#onFailure = heard.onFailure
    this.#send(frameType.begin, id, encodeBegin(spec))
    this.#feed(id)
    return true
  }

  /** Reports the end of a process as if it had exited with this code, and kills everything in the cell. */
  finish(id: number, exitCode: number): void {
    this.#send(frameType.finish, id, new PayloadWriter().u32(exitCode).finish())
  }

  /** Whether the cell keeps this process from ending. */
  hold(isHeld: boolean): void {
    this.#launcher.hold(isHeld)
  }

  /**
   * Kills every guest but not the cell, which then reports their ends and what they had printed. Resolves when none of
   * them is alive any more, or when the cell is gone with them. Never rejects.
   */
  killGuests(): Promise<unknown> {
    this.#send(frameType.killAll, 0)
    this.#alone ??= Promise.withResolvers<void>()
    return Promise.race([this.#alone.promise, this.gone])
  }

  /** Leaves what the cell sends unread, so that its guests come to wait when they go on writing. */
  pause(): void {
    if (!this.#isEnding) this.#control.pause()
  }

  /** Reads on. */
  resume(): void {
    this.#control.resume()
  }

  /** Kills everything in the cell. Returns at once; `gone` says when it is done. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.resume() // or its end would stay unread
    // A launcher that waits for its plan is no stub yet and reads only the control socket; the end of it ends it.
    if (!this.#isPlanned) this.#control.end()
    // The end of our writing, never a byte: writing to a stub that has just ended would discard its last report unread.
    this.#report.end()
    if (this.#isReported) return
    this.#calmDown = systemClock.after(obedienceMs, () => this.#launcher.kill())
    void this.gone.then(this.#calmDown)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
    await this.gone
  }

  #send(type: number, id: number, payload?: Uint8Array): void {
    if (!this.#control.destroyed && this.#control.writable)
      this.#control.write(encodeFrame(type, id, payload))
  }

  /** Gives the guest as much of its stdin as the cell has credit for. */
  #feed(id: number): void {
    const guest = this.#guests.get(id)
    if (guest === undefined) return
    const piece = guest.stdin.subarray(0, guest.credit)
    guest.stdin = guest.stdin.subarray(piece.length)
    guest.credit -= piece.length
    if (piece.length > 0) this.#send(frameType.stdin, id, piece)
    if (guest.stdin.length === 0) this.#send(frameType.stdinEnd, id)
  }

  #listen(
    ready: PromiseWithResolvers<Readonly<Record<string, string>>>,
    gone: (report: GoneReport) => void,
  ): void {
    const failed = ready.reject
    const onFrame = (frame: Frame): void => {
      if (frame.type === frameType.ready) ready.resolve(parseFacts(frame.payload.toString()))
      else if (frame.type === frameType.gone) this.#reportGone(gone, frame.payload)
      else if (frame.type === frameType.born) this.#pid1 = frame.payload.readUInt32LE(0)
      else if (frame.type === frameType.alone) this.#becomeAlone()
      else if (frame.type === frameType.fault) this.#fail(decodeFault(frame.payload), failed)
      else if (frame.type >= frameType.started) this.onNursery?.(frame)
      else this.#handle(frame)
    }
    for (const stream of [this.#control, this.#report]) {
      const decoder = new FrameDecoder()
      stream.on('data', (chunk: Buffer) => {
        try {
          decoder.push(chunk).forEach(onFrame)
        } catch (cause) {
          failed(
            new LazaretError('CELL_FAILED', {
              detail: 'The launcher sent something that is not a frame.',
              cause,
            }),
          )
          this.end()
        }
      })
    }
    const unstarted = (cause: Error) =>
      failed(new LazaretError('JAIL_UNAVAILABLE', { detail: 'The launcher did not start.', cause }))
    void this.#launcher.ended.then((cause) => cause && unstarted(cause))
  }

  /** Nothing is alive any more; what the stub still has to tidy up takes its time, and nobody else would do it. */
  #reportGone(gone: (report: GoneReport) => void, payload: Buffer): void {
    gone(decodeGone(payload))
    this.#isReported = true
    this.#calmDown?.()
  }

  #fail(failure: StepFailure, failed: (error: unknown) => void): void {
    this.#failure = failure
    failed(failure)
    this.#onFailure?.(failure)
  }

  #becomeAlone(): void {
    this.#alone?.resolve()
    this.#alone = undefined
  }

  #handle(frame: Frame): void {
    const { type, id, payload } = frame
    // The watchdog counts the whole cell and names no process.
    if (type === frameType.exceeded || type === frameType.usage) {
      for (const [guestId, { listener }] of this.#guests)
        if (id === 0 || id === guestId) tell(listener, frame)
      return
    }
    const guest = this.#guests.get(id)
    if (guest === undefined) return
    if (type === frameType.stdinTaken) this.#giveCredit(id, guest, payload.readUInt32LE(0))
    if (type === frameType.exit) this.#guests.delete(id)
    tell(guest.listener, frame)
  }

  #giveCredit(id: number, guest: Guest, bytes: number): void {
    guest.credit += bytes
    if (guest.stdin.length > 0) this.#feed(id)
  }

  async #awaitEnd(reported: PromiseWithResolvers<GoneReport>): Promise<GoneReport> {
    // A launcher that ended at once may have closed them before anybody listened.
    const streams = [this.#report, this.#control].map((stream) =>
      stream.closed ? undefined : new Promise((closed) => stream.once('close', closed)),
    )
    await Promise.all([...streams, this.#launcher.ended])
    this.channel?.destroy()
    reported.resolve({ cpuMs: 0, residentPeakBytes: 0 }) // when the stub died without a report
    return reported.promise
  }
}

function tell(listener: ProcessListener, { type, payload }: Frame): void {
  if (type === frameType.spawned) listener.onSpawned(payload.toString('latin1', 4))
  else if (type === frameType.output)
    listener.onOutput(payload[0] === 1 ? 'stdout' : 'stderr', payload.subarray(1))
  else if (type === frameType.exceeded) listener.onExceeded(exceeded[payload.readUInt32LE(0)] ?? 'stdout')
  else if (type === frameType.usage) listener.onUsage(decodeUsage(payload))
  else if (type === frameType.exit) listener.onExit(decodeExit(payload))
}
