/**
 * The jobs that wait for a worker of a lasting pool. The loss of a worker that was starting concerns only jobs that were
 * waiting when it was started: a job that came later waits for a worker of its own.
 */
import { FairQueue } from './fair-queue.ts'

export interface WaitingJob<Place> {
  readonly client: string
  /** When it came, in ms of the pool's clock. */
  readonly since: number
  /** The number of workers that had been started when it came. */
  readonly startsBefore: number
  /** Resolves with the place, or with null if the job stops waiting. */
  readonly turn: PromiseWithResolvers<Place | null>
}

export class WaitingJobs<Place> {
  readonly #queue = new FairQueue<WaitingJob<Place>>()
  /** Those that have lost a worker. */
  readonly #unlucky = new WeakSet<WaitingJob<Place>>()

  get isEmpty(): boolean {
    return this.#queue.isEmpty
  }

  get length(): number {
    return this.#queue.length
  }

  add(job: WaitingJob<Place>): void {
    this.#queue.add(job.client, job)
  }

  /** Ends its waiting, unless it has been served. */
  leave(job: WaitingJob<Place>): void {
    if (this.#queue.remove(job.client, job)) job.turn.resolve(null)
  }

  /** The next job in turn that `suits` accepts. It stays in the queue. */
  find(suits: (job: WaitingJob<Place>) => boolean): WaitingJob<Place> | undefined {
    return this.#queue.find(suits)
  }

  serve(job: WaitingJob<Place>, place: Place): void {
    this.#queue.take((one) => one === job)?.turn.resolve(place)
  }

  /** Records that the next job that waited for this worker has lost it. Returns whether that is its first loss. */
  isFirstLoss(startNumber: number): boolean {
    const job = this.#queue.find(wasThere(startNumber))
    if (job === undefined || this.#unlucky.has(job)) return false
    this.#unlucky.add(job)
    return true
  }

  /** Refuses the next job that waited for this worker. */
  refuseOne(reason: unknown, startNumber: number): void {
    this.#queue.take(wasThere(startNumber))?.turn.reject(reason)
  }

  /** Refuses all jobs that waited for this worker; without a number, all jobs. */
  refuseAll(reason: unknown, startNumber = Number.POSITIVE_INFINITY): void {
    const suits = wasThere(startNumber)
    for (let job = this.#queue.take(suits); job !== undefined; job = this.#queue.take(suits))
      job.turn.reject(reason)
  }
}

const wasThere =
  (startNumber: number) =>
  ({ startsBefore }: Pick<WaitingJob<never>, 'startsBefore'>): boolean =>
    startsBefore < startNumber
