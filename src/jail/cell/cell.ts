/**
 * A cell, and the host's end of its sockets. The launcher's stub is our child or our nursery's, and the cell's pid 1 is
 * a child of the stub. To end a cell the host tells the stub to kill pid 1: as its parent, the stub can never hit an
 * unrelated process.
 */
import type { Duplex } from 'node:stream'

import { systemClock, unlessBefore } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { CellGuests, type GuestObserver } from './cell-guests.ts'
import { cellFailed, decodeFault, decodeGone, parseFacts } from './cell-reports.ts'
import type { GoneReport, StepFailure } from './cell-reports.ts'
import { FrameDecoder, PayloadWriter, encodeFrame, frameType } from '../launch/frames.ts'
import type { Frame } from '../launch/frames.ts'
import type { BeginSpec, ProcessListener, SpawnSpec, TerminalSize } from './guest-process.ts'
import type { Launcher } from '../launch/launcher.ts'
import { putPayloads } from '../launch/put-frames.ts'
import { encodeBegin, encodeSpawn } from '../launch/spawn-frame.ts'
import { withinHost } from '../machine/hard-limits.ts'

/** How long the stub may take before the host kills it; its death kills pid 1, too. */
const killGraceMs = 1000
/** How long a cell may take to be built, unless its owner says otherwise: usually milliseconds. */
const readyMsUsual = 30_000

export class Cell {
  /** The cell's private channel, if it was requested. */
  readonly channel: Duplex | null
  /** Resolves with facts observed from inside when the cell is built; rejects if it could not be built. */
  readonly ready: Promise<Readonly<Record<string, string>>>
  /** Resolves when nothing of the cell is alive and all its output has arrived. Never rejects. */
  readonly gone: Promise<GoneReport>

  /** Called when pid 1 exists: the plan's steps up to `clone` are done. */
  onBorn: () => void = () => undefined
  /** For a cell with a nursery in it (plan-family.ts): receives the nursery's reports about its launchers. */
  onNursery: ((frame: Frame) => void) | undefined

  readonly #launcher: Launcher
  readonly #control: Duplex
  readonly #report: Duplex
  readonly #guests = new CellGuests(
    (...frame) => this.#send(...frame),
    () => this.end(),
  )
  readonly #ready = Promise.withResolvers<Readonly<Record<string, string>>>()
  #nextId = 1
  #isPlanned = false
  #isReady = false
  #isEnding = false
  #failure: StepFailure | undefined
  #pid1: number | undefined
  #isReported = false
  #cancelKill: (() => void) | undefined
  #alone: PromiseWithResolvers<void> | undefined

  constructor(launcher: Launcher) {
    this.#launcher = launcher
    this.#report = launcher.report
    this.#control = launcher.control
    this.channel = launcher.channel
    for (const stream of [this.#report, this.#control, this.channel]) stream?.on('error', () => undefined)
    const reportEnd = Promise.withResolvers<GoneReport>()
    this.ready = this.#ready.promise
    this.ready.catch(() => undefined)
    this.#listen(reportEnd.resolve)
    this.gone = this.#awaitEnd(reportEnd)
    // Only after both sockets have been read to the end: the reason may be on the slower one.
    void this.gone.then(
      () => this.#isReady || this.#ready.reject(cellFailed('The launcher ended without a report.')),
    )
    void this.gone.then(() => this.#guests.lose())
  }

  /** Host pid of the cell's pid 1, for tests and diagnosis. */
  get pid1(): number | undefined {
    return this.#pid1
  }

  /** Sends the plan. Everything sent after it waits until the cell is built. A cell that is late is ended. */
  sendPlan(plan: Buffer, readyMs = readyMsUsual): void {
    this.#isPlanned = true
    this.#send(frameType.plan, 0, plan)
    const cancel = unlessBefore(systemClock, readyMs, () => {
      this.#ready.reject(cellFailed(`The cell was not ready after ${readyMs} ms.`))
      this.end()
    })
    this.ready.then(cancel, cancel)
  }

  /** Has the cell's nursery kill a launcher. */
  killLauncher(id: number): void {
    this.#send(frameType.kill, id)
  }

  /** Puts a file at an absolute guest path. A refusal ends the cell. */
  put(path: string, content: Uint8Array, mode = 0o644): void {
    for (const payload of putPayloads(path, content, mode)) this.#send(frameType.put, 0, payload)
  }

  /**
   * Starts a process, and returns its number in this cell. `onFailure` is called if a step of this spawn or of the cell
   * fails, or if the process does not start in time.
   */
  spawn(spec: SpawnSpec, listener: ProcessListener, onFailure: (failure: StepFailure) => void): number {
    const id = this.#nextId++
    if (this.#failure !== undefined) onFailure(this.#failure)
    this.#guests.add(id, { listener, onFailure }, spec.channel)
    this.#send(frameType.spawn, id, encodeSpawn(withinHost(spec)))
    if (spec.stdin instanceof Uint8Array) this.#guests.giveStdin(id, spec.stdin)
    return id
  }

  /**
   * Begins the run for which a process was started: these limits apply from now on, and its wall time starts.
   * `observer` gets a `spawned` event, as if it had been started now. False if it has already ended.
   */
  begin(id: number, spec: BeginSpec, observer: GuestObserver): boolean {
    if (!this.#guests.reassign(id, observer)) return false
    this.#send(frameType.begin, id, encodeBegin(withinHost(spec)))
    this.#guests.giveStdin(id, spec.stdin)
    return true
  }

  /** From now on another observer receives the events of this process. False if it has already ended. */
  reassign(id: number, observer: GuestObserver): boolean {
    return this.#guests.reassign(id, observer)
  }

  /** The host's end of a process's own channel; null if it has none, or has ended. */
  channelOf(id: number): Duplex | null {
    return this.#guests.channelOf(id)
  }

  /** Adds to the stdin of a process. Resolves when there is room for more, or when it will never be read. */
  writeStdin(id: number, bytes: Uint8Array): Promise<void> {
    return this.#guests.write(id, bytes)
  }

  endStdin(id: number): void {
    this.#guests.endStdin(id)
  }

  signal(id: number, number: number): void {
    this.#send(frameType.signal, id, new PayloadWriter().u32(number).finish())
  }

  /** Kills a process that was spawned with `adopts`, and everything that it has started. */
  killTree(id: number): void {
    this.#guests.killTree(id)
  }

  /** Kills this process alone. */
  kill(id: number): void {
    this.#guests.kill(id)
  }

  /** Stops reading this process's output, so that it blocks when it continues to write; or resumes. */
  holdOutput(id: number, isHeld: boolean): void {
    this.#guests.holdOutput(id, isHeld)
  }

  /** The same, including what it writes to its own channel. */
  holdGuest(id: number, isHeld: boolean): void {
    this.#guests.holdAll(id, isHeld)
  }

  resize(id: number, { columns, rows }: TerminalSize): void {
    this.#send(frameType.resize, id, new PayloadWriter().u32(columns).u32(rows).finish())
  }

  /** Reports the end of a process as if it had exited with this code, and kills everything in the cell. */
  finish(id: number, exitCode: number): void {
    this.#send(frameType.finish, id, new PayloadWriter().u32(exitCode).finish())
  }

  /** Sets whether the cell keeps this process alive. */
  hold(isHeld: boolean): void {
    this.#launcher.hold(isHeld)
  }

  /**
   * Kills every guest but not the cell. The cell then reports the guests' ends and remaining output. Resolves when none
   * of them is alive, or when the cell has ended. Never rejects.
   */
  killGuests(): Promise<unknown> {
    this.#send(frameType.killAll, 0)
    this.#alone ??= Promise.withResolvers<void>()
    return Promise.race([this.#alone.promise, this.gone])
  }

  /** Stops reading from the cell, so that its guests block when they continue to write. */
  pause(): void {
    if (!this.#isEnding) this.#control.pause()
  }

  /** Resumes reading. */
  resume(): void {
    this.#control.resume()
  }

  /** Kills everything in the cell. Returns at once; `gone` says when it is done. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.resume() // otherwise its end is never read
    // A launcher that waits for its plan is not a stub yet and reads only the control socket; closing that ends it.
    if (!this.#isPlanned) this.#control.end()
    if (this.#isReported) return
    // Ends the stream without sending a byte: a byte to a stub that has just ended would discard the stub's last
    // report.
    this.#report.end()
    this.#cancelKill = systemClock.after(killGraceMs, () => this.#launcher.kill())
    void this.gone.then(this.#cancelKill)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
    await this.gone
  }

  /** Frames of one turn are sent together at its end, because each write wakes the reader. */
  #send(type: number, id: number, payload?: Uint8Array): void {
    const control = this.#control
    if (control.destroyed || !control.writable) return
    if (control.writableCorked === 0) {
      control.cork()
      process.nextTick(() => control.uncork())
    }
    control.write(encodeFrame(type, id, payload))
  }

  #listen(gone: (report: GoneReport) => void): void {
    const failed = this.#ready.reject
    const onFrame = (frame: Frame): void => {
      if (frame.type === frameType.ready) {
        this.#isReady = true
        this.#ready.resolve(parseFacts(frame.payload.toString()))
      } else if (frame.type === frameType.gone) this.#reportGone(gone, frame.payload)
      else if (frame.type === frameType.born) {
        this.#pid1 = frame.payload.readUInt32LE(0)
        this.onBorn()
      } else if (frame.type === frameType.alone) this.#becomeAlone()
      else if (frame.type === frameType.fault) this.#fail(frame, failed)
      else if (frame.type >= frameType.started) this.onNursery?.(frame)
      else this.#guests.handle(frame)
    }
    for (const stream of [this.#control, this.#report]) {
      const decoder = new FrameDecoder()
      stream.on('data', (chunk: Buffer) => {
        try {
          decoder.push(chunk).forEach(onFrame)
        } catch (cause) {
          failed(cellFailed('The launcher sent an invalid frame.', cause))
          this.end()
        }
      })
    }
    const unstarted = (cause: Error) =>
      failed(new LazaretError('JAIL_UNAVAILABLE', { detail: 'The launcher did not start.', cause }))
    void this.#launcher.ended.then((cause) => cause && unstarted(cause))
  }

  /** No process is alive any more. The stub is not killed: its clean-up takes time, and nothing else would do it. */
  #reportGone(gone: (report: GoneReport) => void, payload: Buffer): void {
    gone(decodeGone(payload))
    this.#isReported = true
    // Nothing follows on it, and its end would wake this process once more.
    this.#report.destroy()
    this.#cancelKill?.()
  }

  #fail({ id, payload }: Frame, failed: (error: unknown) => void): void {
    const failure = decodeFault(payload)
    if (id !== 0 && this.#guests.fail(id, failure)) return
    this.#failure = failure
    failed(failure)
    this.#guests.failAll(failure)
  }

  #becomeAlone(): void {
    this.#alone?.resolve()
    this.#alone = undefined
  }

  async #awaitEnd(reported: PromiseWithResolvers<GoneReport>): Promise<GoneReport> {
    // A launcher that ended at once may have closed them before anybody listened.
    const streams = [this.#report, this.#control].filter((stream) => !stream.closed)
    await Promise.all(streams.map((stream) => new Promise((closed) => stream.once('close', closed))))
    // The process that closed them is ending. If its end is never reported, as when a nursery was stopped, the wait
    // ends after a while.
    const cancelKill = systemClock.after(killGraceMs, () => this.#launcher.kill())
    await this.#launcher.ended
    cancelKill()
    this.channel?.destroy()
    reported.resolve({ cpuMs: 0, residentPeakBytes: 0 }) // when the stub died without a report
    return reported.promise
  }
}
