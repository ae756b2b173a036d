/**
 * Workers that serve one job after another. At most `workersMax` of them exist at one time. A job without a free worker
 * waits in a fair queue, and a worker that cannot continue is replaced at once.
 */
import { holdProcess, unlessBefore } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { allDisabled } from './all-disabled.ts'
import type { LastingWorker } from '../runtimes/work/worker.ts'
import type { LastingPoolParts, Served, Turn } from './lasting-parts.ts'
import { Slot } from './slots.ts'
import type { CrashLimit, SlotEvent } from './slots.ts'
import { WaitingJobs } from './waiting-jobs.ts'

/** How often the pool ends workers that were not needed since the last check. */
const idleMs = 30_000
/** How long a worker may stay with one client while jobs of another client wait. */
const patienceMs = 200
/** How long a worker may take to be ready for a job; usually milliseconds. */
const readyMs = 60_000
const noCrashLimit: CrashLimit = { most: Number.POSITIVE_INFINITY, windowMs: 60_000 }

type LastingSlot<Job, End> = Slot<LastingWorker<Job, End>>

export class LastingPool<Job, End> implements AsyncDisposable {
  readonly #parts: LastingPoolParts<Job, End>
  readonly #slots: readonly LastingSlot<Job, End>[]
  readonly #waiting = new WaitingJobs<LastingSlot<Job, End>>()
  /** The idle workers. The most recently used one is last, and is used first. */
  readonly #idle: LastingSlot<Job, End>[] = []
  readonly #ending = new Set<Promise<void>>()
  /** The smallest number of idle workers since the last check. */
  #spare = 0
  #stopLooking: (() => void) | undefined
  #isDisposed = false
  #starts = 0

  constructor(parts: LastingPoolParts<Job, End>) {
    this.#parts = parts
    const tell = (event: SlotEvent) => parts.onEvent?.(event)
    this.#slots = Array.from({ length: parts.workersMax }, (_, at) => new Slot(at + 1, tell))
  }

  /** Throws QUEUE_FULL, WORKER_LOST, RUNTIME_UNAVAILABLE, DISPOSED; how the job ended is a value. */
  async run(job: Job, turn: Turn = {}): Promise<Served<End>> {
    const { clock } = this.#parts
    const askedAt = clock.now()
    const startsBefore = this.#starts
    const slot = await this.#take(turn)
    const queuedMs = clock.now() - askedAt
    const worker = slot?.worker
    // The job was aborted after the worker had been found, so nothing has run in the worker.
    if (turn.signal?.aborted === true && slot !== null) this.#offer(slot)
    if (turn.signal?.aborted === true || slot === null || worker === null || worker === undefined)
      return { end: null, queuedMs, start: 'cold' }
    const start = slot.startNumber > startsBefore ? 'cold' : 'parked'
    turn.onBegun?.()
    return { end: await this.#runIn(slot, worker, job), queuedMs, start }
  }

  /** The number of jobs that wait for a worker. */
  get waiting(): number {
    return this.#waiting.length
  }

  get counts(): { readonly total: number; readonly active: number; readonly busy: number } {
    const states = this.#slots.map(({ state }) => state)
    const busy = states.filter((state) => state === 'busy').length
    return { total: states.length, active: busy + states.filter((state) => state === 'idle').length, busy }
  }

  /** Resolves when `count` workers, or as many as there may be, wait for jobs. Throws as `run` does. */
  async warmUp(count: number): Promise<void> {
    const wanted = Math.min(count, this.#parts.workersMax)
    const turns = await Promise.allSettled(Array.from({ length: wanted }, () => this.#take({})))
    for (const turn of turns) if (turn.status === 'fulfilled' && turn.value !== null) this.#offer(turn.value)
    for (const turn of turns) if (turn.status === 'rejected') throw turn.reason
  }

  /** Ends the workers that wait for jobs, and those that start while no job waits for them. */
  async drain(): Promise<void> {
    const starting = this.#slots.filter(({ state }) => state === 'restarting' && this.#waiting.isEmpty)
    for (const slot of [...this.#idle.splice(0), ...starting]) this.#giveUp(slot, 'the pool was drained')
    await Promise.all(this.#ending)
  }

  /** Refuses waiting jobs and new ones; running ones continue. */
  close(reason: unknown = new LazaretError('DISPOSED')): void {
    this.#isDisposed = true
    this.#stopLooking?.()
    this.#waiting.refuseAll(reason)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    for (const slot of this.#slots) this.#giveUp(slot, 'the pool was ended')
    this.#idle.length = 0
    while (this.#ending.size > 0) await Promise.all(this.#ending)
  }

  async #runIn(slot: LastingSlot<Job, End>, worker: LastingWorker<Job, End>, job: Job): Promise<End> {
    try {
      const end = await worker.run(job)
      if (slot.worker !== worker) return end
      if (worker.crash !== undefined) this.#lose(slot, worker, worker.crash)
      else if (worker.fits(slot.client) === 'never') {
        this.#giveUp(slot, 'its worker was spent')
        // Replaces the worker at once, so that the next job does not wait longer than this one did.
        this.#restart(slot)
      } else void this.#offerWhenReady(slot, worker)
      return end
    } catch (error) {
      this.#lose(slot, worker, error)
      throw this.#isDisposed ? new LazaretError('DISPOSED') : error
    }
  }

  /** Null if the signal was aborted first. */
  async #take({
    signal,
    client = '',
  }: Pick<Turn, 'signal' | 'client'>): Promise<LastingSlot<Job, End> | null> {
    if (signal?.aborted === true) return null
    if (this.#isDisposed) throw new LazaretError('DISPOSED')
    const idle = this.#takeIdle(client)
    if (idle !== undefined) return this.#occupy(idle, client)
    this.#requireSlots()
    if (this.#waiting.length >= this.#parts.waitingMax)
      throw new LazaretError('QUEUE_FULL', {
        detail: `${this.#parts.waitingMax} ${this.#parts.noun}s wait for a worker.`,
      })
    const { clock } = this.#parts
    const turn = Promise.withResolvers<LastingSlot<Job, End> | null>()
    const waiter = { client, since: clock.now(), startsBefore: this.#starts, turn }
    const leave = () => this.#waiting.leave(waiter)
    signal?.addEventListener('abort', leave, { once: true })
    this.#waiting.add(waiter)
    this.#startForOneMore()
    const letGo = holdProcess(clock)
    try {
      const slot = await turn.promise
      return slot === null ? null : this.#occupy(slot, client)
    } finally {
      letGo()
      signal?.removeEventListener('abort', leave)
    }
  }

  #occupy(slot: LastingSlot<Job, End>, client: string): LastingSlot<Job, End> {
    slot.client = client
    slot.turn('busy', 'a job has come')
    return slot
  }

  #takeIdle(client: string): LastingSlot<Job, End> | undefined {
    const fits = (how: string) => (slot: LastingSlot<Job, End>) => slot.worker?.fits(client) === how
    // Among the other workers, the one that has been idle longest.
    const slot = this.#idle.findLast(fits('best')) ?? this.#idle.find(fits('well'))
    if (slot === undefined) return undefined
    this.#idle.splice(this.#idle.indexOf(slot), 1)
    this.#spare = Math.min(this.#spare, this.#idle.length)
    return slot
  }

  /** An empty slot, or that of an idle worker of another client. */
  #startForOneMore(): void {
    const free = this.#slots.find(({ isFree }) => isFree)
    if (free !== undefined) {
      this.#start(free)
      return
    }
    const other = this.#idle.shift()
    if (other === undefined) return
    this.#spare = Math.min(this.#spare, this.#idle.length)
    this.#giveUp(other, 'another client needs its place')
    this.#restart(other)
  }

  #restart(slot: LastingSlot<Job, End>): void {
    if (!this.#isDisposed && slot.isFree) this.#start(slot)
  }

  #start(slot: LastingSlot<Job, End>): void {
    let worker
    try {
      worker = this.#parts.start()
    } catch (error) {
      this.#refuseOne(error, this.#starts + 1)
      return
    }
    slot.worker = worker
    slot.startNumber = ++this.#starts
    slot.turn('restarting', 'a worker was started')
    this.#stopLooking ??= this.#parts.clock.every(idleMs, () => this.#endSpare())
    void worker.lost?.then((reason) => this.#lose(slot, worker, reason))
    void this.#offerWhenReady(slot, worker)
  }

  async #offerWhenReady(slot: LastingSlot<Job, End>, worker: LastingWorker<Job, End>): Promise<void> {
    const detail = `A worker was not ready after ${readyMs} ms.`
    const late = () => this.#lose(slot, worker, new LazaretError('WORKER_LOST', { detail }))
    const cancel = unlessBefore(this.#parts.clock, readyMs, late)
    try {
      await worker.ready()
    } catch (error) {
      this.#lose(slot, worker, error)
      return
    } finally {
      cancel()
    }
    if (slot.worker === worker) this.#offer(slot)
  }

  /** Called when the worker of a slot has crashed. The worker itself reports that to its running job. */
  #lose(slot: LastingSlot<Job, End>, worker: LastingWorker<Job, End>, reason: unknown): void {
    if (slot.worker !== worker) return
    const isWaitedFor = slot.state === 'restarting'
    const at = this.#idle.indexOf(slot)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#endWorker(worker)
    const { clock, crashes = noCrashLimit } = this.#parts
    slot.crash(clock, crashes, reason instanceof Error ? reason.message : 'its worker ended')
    if (isWaitedFor && !this.#keepsWaiting(reason, slot.startNumber))
      this.#refuseOne(reason, slot.startNumber)
    if (this.#slots.every(({ state }) => state === 'disabled'))
      this.#waiting.refuseAll(allDisabled(this.#slots.length))
    else if (slot.isFree && (!isWaitedFor || !this.#waiting.isEmpty)) this.#restart(slot)
    else if (!this.#waiting.isEmpty) this.#startForOneMore()
  }

  /** Whether the next job that waited for this worker may wait for another one, now that it is lost. */
  #keepsWaiting(reason: unknown, startNumber: number): boolean {
    const isLoss = reason instanceof LazaretError && reason.code === 'WORKER_LOST'
    return this.#parts.hasSecondStart === true && isLoss && this.#waiting.isFirstLoss(startNumber)
  }

  /** A worker that was started for a waiting job is missing; without any worker all these jobs would wait for ever. */
  #refuseOne(reason: unknown, startNumber: number): void {
    this.#waiting.refuseOne(reason, startNumber)
    if (this.#slots.every(({ worker }) => worker === null)) this.#waiting.refuseAll(reason, startNumber)
  }

  #requireSlots(): void {
    if (this.#slots.every(({ state }) => state === 'disabled')) throw allDisabled(this.#slots.length)
  }

  /**
   * Gives the worker to the next job in turn that it may serve. If a job of another client has waited long, ends the
   * worker to make room.
   */
  #offer(slot: LastingSlot<Job, End>): void {
    const { worker } = slot
    if (worker === null) return
    slot.turn('idle', 'it waits for a job')
    const now = this.#parts.clock.now()
    const fits = ({ client }: { readonly client: string }) => worker.fits(client) !== 'never'
    const next = this.#waiting.find((waiter) => fits(waiter) || now - waiter.since > patienceMs)
    if (next === undefined) this.#idle.push(slot)
    else if (fits(next)) this.#waiting.serve(next, slot)
    else {
      this.#giveUp(slot, 'another client has waited long')
      this.#restart(slot)
    }
    if (next === undefined && !this.#waiting.isEmpty) this.#startForOneMore()
  }

  #giveUp(slot: LastingSlot<Job, End>, reason: string): void {
    const { worker } = slot
    slot.worker = null
    slot.turn('empty', reason)
    if (worker !== null) this.#endWorker(worker)
  }

  #endWorker(worker: LastingWorker<Job, End>): void {
    const ended = worker.end()
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  #endSpare(): void {
    const standing = this.#slots.filter(({ worker }) => worker !== null).length
    const count = Math.min(this.#spare, standing - (this.#parts.workersMin ?? 1))
    for (const slot of this.#idle.splice(0, Math.max(count, 0))) this.#giveUp(slot, 'nobody needed it')
    this.#spare = this.#idle.length
  }
}
