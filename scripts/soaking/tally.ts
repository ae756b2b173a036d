/** The results of a soak's runs: their number, their times, and the first wrong ones. */
import type { CaseEnd } from './run-mix.ts'

export interface Latencies {
  readonly kind: string
  readonly runs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** One cause makes many runs wrong, so the first few are enough. */
const shownMax = 20

export class Tally {
  #runs = 0
  #wrong = 0
  readonly #shown: string[] = []
  readonly #times = new Map<string, number[]>()
  readonly #late: number[] = []
  readonly #startedMs = performance.now()
  #endedMs: number | undefined

  add({ kind, ms, lateMs, wrong }: CaseEnd): void {
    this.#runs++
    const times = this.#times.get(kind) ?? []
    this.#times.set(kind, times)
    times.push(ms)
    if (lateMs !== undefined) this.#late.push(lateMs)
    if (wrong === undefined) return
    this.#wrong++
    if (this.#shown.length < shownMax) this.#shown.push(wrong)
  }

  get runs(): number {
    return this.#runs
  }

  get wrong(): number {
    return this.#wrong
  }

  get shown(): readonly string[] {
    return this.#shown
  }

  /** Until it was stopped, or until now. */
  get seconds(): number {
    return ((this.#endedMs ?? performance.now()) - this.#startedMs) / 1000
  }

  stop(): void {
    this.#endedMs = performance.now()
  }

  latencies(): Latencies[] {
    return [...this.#times].map(([kind, times]) => describeTimes(kind, times))
  }

  /** How long after their wall limit programs were ended. */
  lateness(): Latencies {
    return describeTimes('late', this.#late)
  }
}

function describeTimes(kind: string, times: readonly number[]): Latencies {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round((sorted[Math.ceil(sorted.length * part) - 1] ?? 0) * 10) / 10
  return { kind, runs: times.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) }
}
