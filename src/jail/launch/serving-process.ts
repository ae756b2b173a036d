/** A child of this process that serves it over one socket, in frames: the nursery, or the relay. */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

import { systemClock } from '../../core/clock.ts'
import { FrameDecoder, encodeFrame } from './frames.ts'
import type { Frame } from './frames.ts'
import { holdAll } from './launcher.ts'

/** How long it may take to end when told to. */
const killGraceMs = 1000

/** What the serving process calls in this process. */
export interface Served {
  /** Throws for a frame that no such child sends; then the child is killed. */
  onFrame(frame: Frame): void
  /** Called once, when nothing more can come from it. */
  onLost(): void
}

export class ServingProcess {
  /** Resolves when its process has been reaped. */
  readonly gone: Promise<void>
  readonly #process: ChildProcess
  readonly #control: Socket
  readonly #served: Served
  #isLost = false

  /** Its socket, descriptor 3, keeps this process from ending until `hold(false)`. The child itself does not. */
  constructor(child: ChildProcess, served: Served) {
    this.#process = child
    this.#control = child.stdio[3] as Socket
    this.#served = served
    this.gone = new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    void this.gone.then(() => this.#lose())
    this.#control.on('error', () => undefined)
    this.#control.once('close', () => this.#lose())
    this.#listen()
    child.unref()
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isLost(): boolean {
    return this.#isLost
  }

  say(type: number, id: number, payload?: Uint8Array): void {
    if (!this.#isLost) this.#control.write(encodeFrame(type, id, payload))
  }

  hold(isHeld: boolean): void {
    holdAll(isHeld, [this.#control])
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Tells it to end, and kills it if it does not. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#process.ref()
    this.#control.end()
    const cancelKill = systemClock.after(killGraceMs, () => this.kill())
    await this.gone
    cancelKill()
  }

  #listen(): void {
    const decoder = new FrameDecoder()
    this.#control.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk).forEach((frame) => this.#served.onFrame(frame))
      } catch {
        this.kill()
      }
    })
  }

  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#control.destroy()
    this.#served.onLost()
  }
}
