/** How many calls were made, of which family, and what came back. */
import { isOwn } from './program.ts'
import type { Program } from './program.ts'

interface Counts {
  calls: number
  passed: number
  refused: number
  failed: number
}

export class CallTally {
  runs = 0
  readonly #counts = new Map<string, Counts>()
  readonly #outcomes = new Map<string, number>()

  /** `stdout` is what the guest's processes wrote: process, call, passed, refused, failed. */
  add(program: Program, outcome: string, stdout: string): void {
    this.runs++
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
    for (const [, process, call, ...rest] of stdout.matchAll(/^(\d+) (\d+) (\d+) (\d+) (\d+)$/gm)) {
      const name = program[Number(process)]?.calls[Number(call)]?.name
      if (name === undefined || isOwn(name)) continue
      const [passed = 0, refused = 0, failed = 0] = rest.map(Number)
      const key = name.startsWith('#') ? 'any number' : name
      const counts = this.#counts.get(key) ?? { calls: 0, passed: 0, refused: 0, failed: 0 }
      counts.calls += passed + refused + failed
      counts.passed += passed
      counts.refused += refused
      counts.failed += failed
      this.#counts.set(key, counts)
    }
  }

  get calls(): number {
    return [...this.#counts.values()].reduce((sum, { calls }) => sum + calls, 0)
  }

  get outcomes(): string {
    return [...this.#outcomes].map(([kind, count]) => `${kind} ${count}`).join(', ')
  }

  /** Refused: by the filter, or by the kernel in the filter's words. Let in: those, too, that the kernel then found wrong. */
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
