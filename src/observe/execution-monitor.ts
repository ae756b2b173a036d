/** Counts how programs ended, and says when one client's programs break their limits again and again. */
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import type { WorkKind, WorkOutcome } from '../core/work.ts'

/** More of them than this in a minute are an alert. */
const violationsMax = 3
const windowMs = 60_000
/** Of so many clients the violations are remembered; those of the longest silent one are forgotten first. */
const clientsMax = 10_000

/** Programs: files, sandboxes and warm-ups are not counted. */
const counted: readonly WorkKind[] = ['run', 'command', 'process']
const violations: readonly WorkOutcome[] = ['timed-out', 'out-of-memory', 'limit-exceeded', 'denied']

export interface MonitorSnapshot {
  /** Programs that have ended. */
  readonly total: number
  readonly timeouts: number
  /** All that did not complete with exit code 0, timeouts and deaths included; a cancelled one is no error. */
  readonly errors: number
  /** Ended for their memory. */
  readonly memoryDeaths: number
  /** Of all of them; 0 when there is none. */
  readonly meanDurationMs: number
  /** Programs that did not begin, because they were refused or something failed. */
  readonly refused: number
}

export interface MonitorAlert {
  /** Undefined for all that did not say who they are. */
  readonly client: string | undefined
  /** How they ended, oldest first. */
  readonly outcomes: readonly WorkOutcome[]
  /** Within which time. */
  readonly withinMs: number
}

export interface ExecutionMonitorOptions {
  /**
   * Called when the programs of one client have broken their limits (time, memory, output, …) more than 3 times in a minute.
   * Then they are counted anew.
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
  /** The client that was heard of last is the last one. */
  readonly #violations = new Map<string | undefined, readonly Violation[]>()

  constructor({ onAlert, clock = systemClock }: ExecutionMonitorOptions = {}) {
    this.#onAlert = onAlert
    this.#clock = clock
  }

  /** For `onEvent`; what does not concern it, it passes over. */
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
