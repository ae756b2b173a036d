/** A guest that was started ahead of its run: the loaded harness, which waits on the private channel for a request. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import type { GuestObserver } from '../../jail/cell/cell-guests.ts'
import type { BeginSpec, GuestStream, ProcessListener, SpawnSpec } from '../../jail/cell/guest-process.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import { frameMessage } from '../channel/message-frame.ts'
import { readStatus, requirePromises } from './observed.ts'
import { ProcessLife } from './process-life.ts'

/** The answer of a harness that is ready takes only a few bytes. */
const answerBytesMax = 64 * 1024

export interface WaitingParts {
  /** The request that tells the harness what to load. */
  readonly park: object
  readonly clock: Clock
}

export class WaitingGuest implements ProcessListener {
  /** Resolves when the guest is ready; rejects if it never will be. */
  readonly waiting: Promise<void>
  /** Resolves when the guest can no longer serve a run. */
  readonly ended: Promise<void>
  readonly #built: BuiltCell
  readonly #clock: Clock
  readonly #id: number
  readonly #life = new ProcessLife<void>()
  #observed: Readonly<Record<string, string>> = {}
  #isSpawned = false
  #isLoaded = false

  constructor(built: BuiltCell, spec: SpawnSpec, { park, clock }: WaitingParts) {
    this.#built = built
    this.#clock = clock
    this.waiting = this.#life.started
    this.ended = this.#life.ended.catch(() => undefined)
    this.#id = built.cell.spawn(spec, this, (failure) => this.#life.fail(explainFailure(failure, built.plan)))
    this.#readAnswer(park)
  }

  /** The kernel's view of the guest before it ran any code. */
  get observed(): Readonly<Record<string, string>> {
    return this.#observed
  }

  /** Passes later events to another listener. Returns false if the guest has already ended. */
  reassign(observer: GuestObserver): boolean {
    return this.#built.cell.reassign(this.#id, observer)
  }

  /** Begins the run. Returns false if the guest has already ended. */
  begin(spec: BeginSpec, observer: GuestObserver): boolean {
    return this.#built.cell.begin(this.#id, spec, observer)
  }

  finish(exitCode: number): void {
    this.#built.cell.finish(this.#id, exitCode)
  }

  onSpawned(status: string): void {
    try {
      this.#observed = readStatus(status)
      requirePromises(this.#built.plan.promises, this.#observed)
    } catch (error) {
      this.#life.fail(error)
      return
    }
    this.#isSpawned = true
    this.#waitIfReady()
  }

  /** A waiting harness must not print anything. */
  onOutput(_stream: GuestStream, bytes: Buffer): void {
    this.#lose(`printed: ${bytes.toString('utf8', 0, 1000)}`)
  }

  onExceeded(what: string): void {
    this.#lose(`exceeded a limit (${what})`)
  }

  onUsage(): void {}

  /** Its last message, which says why, may not have been read yet: both sockets are read in the same turn, in any order. */
  onExit(): void {
    this.#life.until(this.#clock.after(0, () => this.#lose('ended')))
  }

  /** The harness's answer may arrive before the cell's report, which confirms that the guest is confined. */
  #waitIfReady(): void {
    if (this.#isSpawned && this.#isLoaded) this.#life.start()
  }

  #lose(how: string): void {
    this.#life.fail(new LazaretError('WORKER_LOST', { detail: `A parked worker ${how}.` }))
  }

  /** Reads one answer. Later messages belong to the run. */
  #readAnswer(park: object): void {
    const { channel } = this.#built.cell
    if (channel === null) throw new Error('A guest that waits needs a channel.')
    let answer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk])
      if (answer.length > answerBytesMax) this.#lose('sent an answer that is too long')
      if (answer.length < 4 || answer.length < 4 + answer.readUInt32LE(0)) return
      channel.off('data', onData)
      channel.pause()
      this.#understand(answer.toString('utf8', 4))
    }
    channel.on('data', onData)
    channel.write(frameMessage(JSON.stringify(park)))
  }

  #understand(json: string): void {
    if (json === '{"type":"parked"}') {
      this.#isLoaded = true
      this.#waitIfReady()
    } else
      this.#life.fail(
        new LazaretError('RUNTIME_UNAVAILABLE', {
          detail: `The worker could not be prepared: ${reasonIn(json)}.`,
          hint: 'Is the module installed where this interpreter finds it? See `preload`, `readable` and `toolchains`.',
        }),
      )
  }
}

/** The harness's reason, such as Python's error for a module. */
function reasonIn(json: string): string {
  const reason = /^\{"type":"unparked","text":(".*")\}$/s.exec(json)?.[1]
  try {
    return String(JSON.parse(reason ?? '"it did not answer"')).slice(0, 1000)
  } catch {
    return 'it did not answer'
  }
}
