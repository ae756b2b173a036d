/** One nursery (native/cell/nursery/nursery.c), a child of this process, which forks launchers for it. */
import { systemClock } from '../../core/clock.ts'
import { frameType } from './frames.ts'
import type { Frame } from './frames.ts'
import { spawnProgram } from './launcher.ts'
import { Launches } from './launches.ts'
import type { Launch } from './launches.ts'
import { ServingProcess } from './serving-process.ts'

/** A nursery that has not launched within this time is given up. Starting a program takes only some milliseconds. */
const launchMs = 5000
/** How long it may take to end a launcher. */
const killGraceMs = 1000

export class NurseryProcess {
  /** Its abstract name, without the NUL before it. */
  readonly name = `lazaret-${systemClock.id()}`
  /** Resolves when it can launch, or when it has ended first. */
  readonly standing: Promise<void>
  readonly #process: ServingProcess
  readonly #launches = new Launches({
    name: this.name,
    kill: (id) => this.#killLauncher(id),
    // An idle nursery, or one whose launchers nobody waits for, does not keep this process alive.
    hold: (isHeld) => this.#process.hold(isHeld),
  })
  readonly #stands = Promise.withResolvers<void>()
  #isStanding = false

  /** Throws when no process can be started. */
  constructor() {
    this.#process = new ServingProcess(spawnProgram(['ignore', 'ignore', 'ignore', 'pipe', 'ignore']), {
      onFrame: (frame) => this.#handle(frame),
      onLost: () => this.#lose(),
    })
    this.standing = this.#stands.promise
    this.#process.say(frameType.nursery, 0, Buffer.from(this.name))
    // An idle nursery does not keep the process alive.
    this.#process.hold(false)
  }

  /** Resolves when its process has been reaped. */
  get gone(): Promise<void> {
    return this.#process.gone
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get isStanding(): boolean {
    return this.#isStanding && !this.isLost
  }

  get isLost(): boolean {
    return this.#process.isLost
  }

  /** Resolves when the nursery knows what to launch; with null if it could not be reached. */
  async launch(hasChannel: boolean): Promise<Launch | null> {
    const launch = await this.#launches.launch(hasChannel)
    if (launch === null || this.isLost) return launch
    const patience = systemClock.after(launchMs, () => this.#process.kill())
    void launch.launcher.then(patience)
    return launch
  }

  /** Ends the nursery, but not the cells that it launched. Resolves when it is gone. */
  end(): Promise<void> {
    return this.#process.end()
  }

  /** A stopped nursery does not do it, so it is killed itself, and its launchers are lost. */
  #killLauncher(id: number): void {
    this.#process.say(frameType.kill, id)
    const stop = systemClock.every(killGraceMs, () => {
      stop()
      if (this.#launches.has(id)) this.#process.kill()
    })
  }

  #handle(frame: Frame): void {
    if (frame.type === frameType.ready) {
      this.#isStanding = true
      this.#stands.resolve()
    }
    this.#launches.handle(frame)
  }

  /** Its launchers live on with their own sockets, and the machine's init reaps them. */
  #lose(): void {
    this.#stands.resolve()
    this.#launches.lose()
  }
}
