/** Counts the calls of each family, and their results. */
import { isOwn } from './program.ts'
import type { Call, Program } from './program.ts'
import type { Refusals } from './refusals.ts'

interface Counts {
  calls: number
  passed: number
  refused: number
  failed: number
}

export class CallTally {
  runs = 0
  readonly #counts = new Map<string, Counts>()
  readonly #refusals: Refusals
  readonly #outcomes = new Map<string, number>()

  constructor(refusals: Refusals) {
    this.#refusals = refusals
  }

  /**
   * `stdout` has lines of the guest's processes: process, call, how often it succeeded and failed. Returns the calls that
   * succeeded although the filter's rules refuse them.
   */
  add(program: Program, outcome: string, stdout: string): readonly Call[] {
    this.runs++
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
    const wrong: Call[] = []
    for (const [, process, index, ...rest] of stdout.matchAll(/^(\d+) (\d+) (\d+) (\d+)$/gm)) {
      const call = program[Number(process)]?.calls[Number(index)]
      if (call === undefined || isOwn(call.name)) continue
      const [passed = 0, failed = 0] = rest.map(Number)
      const verdict = this.#refusals.verdict(call)
      if (verdict === 'refused' && passed > 0) wrong.push(call)
      this.#count(
        call,
        verdict === 'let through'
          ? { passed, failed, refused: 0 }
          : { passed: 0, failed: 0, refused: passed + failed },
      )
    }
    return wrong
  }

  #count({ name }: Call, { passed, failed, refused }: Omit<Counts, 'calls'>): void {
    const key = name.startsWith('#') ? 'any number' : name
    const counts = this.#counts.get(key) ?? { calls: 0, passed: 0, refused: 0, failed: 0 }
    counts.calls += passed + refused + failed
    counts.passed += passed
    counts.refused += refused
    counts.failed += failed
    this.#counts.set(key, counts)
  }

  get calls(): number {
    return [...this.#counts.values()].reduce((sum, { calls }) => sum + calls, 0)
  }

  get outcomes(): string {
    return [...this.#outcomes].map(([kind, count]) => `${kind} ${count}`).join(', ')
  }

  toJSON() {
    return {
      runs: this.runs,
      calls: this.calls,
      outcomes: this.outcomes,
      byCall: Object.fromEntries(this.#counts),
    }
  }

  /** How many calls the filter refuses, and how many it allows, which succeed or fail for the kernel's own reason. */
  lines(): readonly string[] {
    const row = (cells: readonly string[]) =>
      cells.map((cell, at) => (at === 0 ? cell.padEnd(26) : cell.padStart(12))).join('')
    const share = (part: number, { calls }: Counts) => `${((100 * part) / Math.max(calls, 1)).toFixed(1)} %`
    const rows = [...this.#counts].toSorted(([, a], [, b]) => b.calls - a.calls)
    return [
      row(['call', 'made', 'succeeded', 'failed', 'refused']),
      ...rows.map(([name, counts]) =>
        row([
          name,
          String(counts.calls),
          share(counts.passed, counts),
          share(counts.failed, counts),
          share(counts.refused, counts),
        ]),
      ),
    ]
  }
}
