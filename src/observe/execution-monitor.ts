/** Counts how programs ended, and reports clients whose programs repeatedly exceed their limits. */
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import type { WorkKind, WorkOutcome } from '../core/work.ts'

/** More than this many in a minute cause an alert. */
const violationsMax = 3
const windowMs = 60_000
/** The violations of this many clients are remembered; those of the least recently seen client are forgotten first. */
const clientsMax = 10_000

/** Programs: files, sandboxes and warm-ups are not counted. */
const counted: readonly WorkKind[] = ['run', 'command', 'process', 'code']
const violations: readonly WorkOutcome[] = ['timed-out', 'out-of-memory', 'limit-exceeded', 'denied']

export interface MonitorSnapshot {
  /** Programs that have ended. */
  readonly total: number
  readonly timeouts: number
  /**
   * All programs that did not complete with exit code 0, including timeouts and out-of-memory kills, but not cancelled
   * ones.
   */
  readonly errors: number
  /** Ended because they ran out of memory. */
  readonly memoryDeaths: number
  /** The average over all programs; 0 if there are none. */
  readonly meanDurationMs: number
  /** Programs that did not start, because they were refused or something failed. */
  readonly refused: number
}

export interface MonitorAlert {
  /** Undefined for all callers without a client name. */
  readonly client: string | undefined
  /** How they ended, oldest first. */
  readonly outcomes: readonly WorkOutcome[]
  /** The time within which they ended. */
  readonly withinMs: number
}

export interface ExecutionMonitorOptions {
  /**
   * Called when the programs of one client have exceeded limits (time, memory, output, …) more than 3 times in a
   * minute. Then the count starts over.
   */
  readonly onAlert?: (alert: MonitorAlert) => void
  /** For tests. */
  readonly clock?: Pick<Clock, 'now'>
}

interface WorkEnded {
  readonly type: 'work-ended'
  readonly kind: WorkKind
  readonly outcome: WorkOutcome
  readonly wallMs: number
  readonly client?: string
  readonly exitCode?: number
}

interface Violation {
  readonly atMs: number
  readonly outcome: WorkOutcome
}

/**
 * Listens to a Lazaret.
 *
 * @example
 * ```ts
 * const monitor = new ExecutionMonitor({ onAlert: ({ client }) => console.warn(`${client} breaks its limits`) })
 * const lazaret = createLazaret({ onEvent: monitor.hear })
 * ```
 */
export class ExecutionMonitor {
  readonly #onAlert: ExecutionMonitorOptions['onAlert']
  readonly #clock: Pick<Clock, 'now'>
  readonly #counts = { total: 0, timeouts: 0, errors: 0, memoryDeaths: 0, refused: 0 }
  #durationMs = 0
  /** The most recently seen client is last. */
  readonly #violations = new Map<string | undefined, readonly Violation[]>()

  constructor({ onAlert, clock = systemClock }: ExecutionMonitorOptions = {}) {
    this.#onAlert = onAlert
    this.#clock = clock
  }

  /** For `onEvent`; ignores events that do not concern it. */
  readonly hear = (event: { readonly type: string }): void => {
    if (event.type !== 'work-ended') return
    const ended = event as WorkEnded
    if (counted.includes(ended.kind)) this.#count(ended)
  }

  snapshot(): MonitorSnapshot {
    const { total } = this.#counts
    return { ...this.#counts, meanDurationMs: total === 0 ? 0 : this.#durationMs / total }
  }

  #count({ outcome, wallMs, exitCode = 0, client }: WorkEnded): void {
    if (outcome === 'refused' || outcome === 'fault') {
      this.#counts.refused++
      return
    }
    this.#counts.total++
    this.#durationMs += wallMs
    if (outcome === 'timed-out') this.#counts.timeouts++
    if (outcome === 'out-of-memory') this.#counts.memoryDeaths++
    const isWell =
      outcome === 'cancelled' || outcome === 'done' || (outcome === 'completed' && exitCode === 0)
    if (!isWell) this.#counts.errors++
    if (violations.includes(outcome)) this.#remember(client, outcome)
  }

  #remember(client: string | undefined, outcome: WorkOutcome): void {
    const atMs = this.#clock.now()
    const before = this.#violations.get(client) ?? []
    const recent = [...before.filter((one) => atMs - one.atMs < windowMs), { atMs, outcome }]
    this.#violations.delete(client)
    if (recent.length > violationsMax) {
      const [first] = recent
      const outcomes = recent.map((one) => one.outcome)
      this.#onAlert?.({ client, outcomes, withinMs: atMs - (first?.atMs ?? atMs) })
      return
    }
    this.#violations.set(client, recent)
    if (this.#violations.size > clientsMax) this.#violations.delete(this.#violations.keys().next().value)
  }
}
