/** One nursery (native/cell/nursery/nursery.c), a child of this process, which forks launchers for it. */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

import { systemClock } from '../core/clock.ts'
import { FrameDecoder, encodeFrame, frameType } from './frames.ts'
import type { Frame } from './frames.ts'
import { spawnProgram } from './launcher.ts'
import { Launches } from './launches.ts'
import type { Launch } from './launches.ts'

/** A nursery that has not launched within this time is given up; starting a program takes some milliseconds. */
const launchMs = 5000
/** How long it may take to end when told to. */
const obedienceMs = 1000

export class NurseryProcess {
  /** Its abstract name, without the NUL before it. */
  readonly name = `lazaret-${systemClock.id()}`
  /** Resolves when it launches; or, when it never will, with its end. */
  readonly standing: Promise<void>
  /** Resolves when its process has been reaped. */
  readonly gone: Promise<void>
  readonly #process: ChildProcess
  readonly #control: Socket
  readonly #launches = new Launches({
    name: this.name,
    kill: (id) => this.#killLauncher(id),
    // An idle nursery, and one whose launchers nobody waits for, keeps nobody from ending.
    hold: (isHeld) => void (isHeld ? this.#control.ref() : this.#control.unref()),
  })
  readonly #stands = Promise.withResolvers<void>()
  #isStanding = false
  #isLost = false

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
    const launch = await this.#launches.launch(hasChannel)
    if (launch === null || this.#isLost) return launch
    const patience = systemClock.after(launchMs, () => this.#process.kill('SIGKILL'))
    void launch.launcher.then(patience)
    return launch
  }

  /** Ends it, and not what it has launched. Resolves when it is gone. */
  async end(): Promise<void> {
    this.#process.ref()
    this.#control.end()
    const calmDown = systemClock.after(obedienceMs, () => this.#process.kill('SIGKILL'))
    await this.gone
    calmDown()
  }

  /** A nursery that does not do it, because something has stopped it, is killed itself: its launchers are lost then. */
  #killLauncher(id: number): void {
    this.#control.write(encodeFrame(frameType.kill, id))
    const stop = systemClock.every(obedienceMs, () => {
      stop()
      if (this.#launches.has(id)) this.#process.kill('SIGKILL')
    })
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

  #handle(frame: Frame): void {
    if (frame.type === frameType.ready) {
      this.#isStanding = true
      this.#stands.resolve()
    }
    this.#launches.handle(frame)
  }

  /** What it has launched lives on, with sockets of its own, and is the machine's init's to reap. */
  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#stands.resolve()
    this.#control.destroy()
    this.#launches.lose()
  }
}
