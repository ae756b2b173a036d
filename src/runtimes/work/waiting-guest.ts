/** A guest that was started ahead of its run: our harness, loaded, waiting on the private channel for a request. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import type { GuestObserver } from '../../jail/cell/cell-guests.ts'
import type { BeginSpec, GuestStream, ProcessListener, SpawnSpec } from '../../jail/cell/guest-process.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import { frameMessage } from '../channel/message-frame.ts'
import { readStatus, requirePromises } from './observed.ts'
import { ProcessLife } from './process-life.ts'

/** What a harness says when it is ready takes a few bytes. */
const answerBytesMax = 64 * 1024

export interface WaitingParts {
  /** What its harness has to load. */
  readonly park: object
  readonly clock: Clock
}

export class WaitingGuest implements ProcessListener {
  /** Resolves when it waits; rejects when it never will. */
  readonly waiting: Promise<void>
  /** Resolves when it is no longer fit for a run. */
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
    this.#hear(park)
  }

  /** What the kernel said of it when foreign code got in. */
  get observed(): Readonly<Record<string, string>> {
    return this.#observed
  }

  /** From now on another listener gets its events. Returns false if the guest has already ended. */
  reassign(observer: GuestObserver): boolean {
    return this.#built.cell.reassign(this.#id, observer)
  }

  /** False when it has ended already. */
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

  /** A harness that waits is silent. */
  onOutput(_stream: GuestStream, bytes: Buffer): void {
    this.#lose(`printed: ${bytes.toString('utf8', 0, 1000)}`)
  }

  onExceeded(what: string): void {
    this.#lose(`passed a limit (${what})`)
  }

  onUsage(): void {}

  /** Its last word, which says why, may lie in the channel still: both sockets are read in the same turn, in any order. */
  onExit(): void {
    this.#life.until(this.#clock.after(0, () => this.#lose('ended')))
  }

  /** Its own word may come before the cell's, which is what says that it is behind its wall. */
  #waitIfReady(): void {
    if (this.#isSpawned && this.#isLoaded) this.#life.start()
  }

  #lose(how: string): void {
    this.#life.fail(new LazaretError('WORKER_LOST', { detail: `A worker that waited for its run ${how}.` }))
  }

  /** Reads one answer, and leaves what comes after it to the run. */
  #hear(park: object): void {
    const { channel } = this.#built.cell
    if (channel === null) throw new Error('A guest that waits needs a channel.')
    let answer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk])
      if (answer.length > answerBytesMax) this.#lose('sent what is no answer')
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

/** Python's own words, of a module that was asked for. */
function reasonIn(json: string): string {
  const reason = /^\{"type":"unparked","text":(".*")\}$/s.exec(json)?.[1]
  try {
    return String(JSON.parse(reason ?? '"it did not answer"')).slice(0, 1000)
  } catch {
    return 'it did not answer'
  }
}
