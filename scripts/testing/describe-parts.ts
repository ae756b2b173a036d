/** The summary that ends a run of the tests. */
import { isMissing, kindOf } from './failures.ts'
import type { Level } from './plan/levels.ts'
import type { PassResults } from './results.ts'

/** The static checks, or a pass. */
export interface Part {
  readonly name: string
  readonly results: PassResults
  readonly seconds: number
  /** Absent for the static checks. */
  readonly level?: Level
  readonly files?: readonly string[]
}

export interface Remarks {
  /** These fail the run. */
  readonly problems: readonly string[]
  /** By heading. */
  readonly notes: Readonly<Record<string, readonly string[]>>
}

/** The lines of the summary, the most important last, because logs are cut at their beginning. */
export function describeParts(parts: readonly Part[], { problems, notes }: Remarks): string[] {
  const flaky = parts.flatMap(({ name, results }) =>
    describeFailures(name, { failures: results.flaky, reasons: results.reasons }),
  )
  const failures = parts.flatMap(({ name, results }) => describeFailures(name, results))
  return [
    ...Object.entries(notes).flatMap(([heading, lines]) => section(heading, lines)),
    ...section('Flaky: failed among others, then passed twice alone, or in quarantine:', flaky),
    ...parts.map(describePart),
    '',
    ...section('Failed:', failures),
    ...problems,
    describeCounts(parts.map(({ results }) => results)),
  ]
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [heading, ...lines, '']
}

/** If more files than this did not run to the end, they have one cause, which the other failures show. */
const missingShownMax = 10

function describeFailures(
  pass: string,
  { failures, reasons }: Pick<PassResults, 'failures' | 'reasons'>,
): string[] {
  const missing = failures.filter(isMissing)
  const inShort =
    missing.length > missingShownMax ? [`${missing.length} files have not run to their end`] : missing
  const others = failures.filter((test) => !isMissing(test))
  return [...inShort, ...withSameReasonsTogether(others, reasons)].map((line) => `  ${pass}: ${line}`)
}

/** If a hook fails, so does each test after it, for the same reason. One line is enough for all of them. */
function withSameReasonsTogether(
  failures: readonly string[],
  reasons: Readonly<Record<string, string>>,
): string[] {
  const reasonOf = (test: string) => (reasons[test] === undefined ? '' : `: ${reasons[test]}`)
  const groups = Map.groupBy(failures, (test) => `${fileOf(test)}${reasonOf(test)}`)
  return [...groups.values()].map(([first = '', ...others]) => {
    const count = others.length === 0 ? '' : `, and ${others.length} more of its file`
    const kind = kindOf(first, reasons[first])
    return `${kind === 'other' ? '' : `[${kind}] `}${first}${count}${reasonOf(first)}`
  })
}

function fileOf(test: string): string {
  return test.slice(0, test.indexOf(': '))
}

function describePart({ name, results, seconds }: Part): string {
  return `${name}: ${describeCounts([results])} (${seconds} s${describeUse(results)})`
}

function describeCounts(results: readonly PassResults[]): string {
  const total = (count: (one: PassResults) => number) => results.reduce((sum, one) => sum + count(one), 0)
  const { passed, failed } = { passed: total((one) => one.passed), failed: total((one) => one.failed) }
  return `${passed} passed, ${failed} failed, ${total((one) => one.skipped.length)} skipped`
}

/** Empty for the static checks, which do not measure it. */
function describeUse({ processorMs }: PassResults): string {
  return processorMs === 0 ? '' : `, processors ${Math.round(processorMs / 1000)} s`
}
