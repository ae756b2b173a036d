/**
 * `test/quarantine.json`: tests that are known to be flaky. They run, but cannot fail a pass, for at most 14 days. An attack
 * cannot be quarantined, nor a hang, a leak or a crash.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindOf } from './failures.ts'
import type { PassResults } from './results.ts'

export interface Quarantined {
  /** The file and the title: `test/core/clock.test.ts: waits`. */
  readonly test: string
  readonly reason: string
  /** Who mends it. */
  readonly owner: string
  /** `2026-11-28`. */
  readonly since: string
  /** At most 14 days later. */
  readonly until: string
}

const daysMax = 14
const dayMs = 24 * 60 * 60 * 1000

export function readQuarantine(): readonly Quarantined[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '../../test/quarantine.json'), 'utf8'),
  ) as Quarantined[]
}

/** What is wrong with the list itself; an entry that has ended is, too. */
export function problemsOf(list: readonly Quarantined[], nowMs: number): string[] {
  return list.flatMap(({ test, since, until, reason, owner }) => {
    const [from, to] = [Date.parse(since), Date.parse(until)]
    const problem =
      !(to - from <= daysMax * dayMs) || reason === '' || owner === ''
        ? `needs a reason, an owner, and at most ${daysMax} days`
        : test.startsWith('test/escape/')
          ? 'is an attack, which cannot be quarantined'
          : to + dayMs < nowMs
            ? `has ended on ${until}: mend or remove the test`
            : undefined
    return problem === undefined ? [] : [`test/quarantine.json: ${test} ${problem}`]
  })
}

/** The results without the failures of quarantined tests, which count as flaky. */
export function withQuarantine(results: PassResults, list: readonly Quarantined[]): PassResults {
  const isQuarantined = (failure: string) =>
    list.some(({ test }) => test === failure) && kindOf(failure, results.reasons[failure]) === 'other'
  const failures = results.failures.filter((failure) => !isQuarantined(failure))
  const healed = results.failures.filter(isQuarantined)
  return {
    ...results,
    failures,
    failed: results.failed - healed.length,
    flaky: [...results.flaky, ...healed],
  }
}
