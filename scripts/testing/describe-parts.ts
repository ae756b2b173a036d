/** The summary that ends a run of the tests. */
import type { PassResults } from './results.ts'
import { isMissing } from './run-again.ts'

/** The static checks, or a pass. */
export interface Part {
  readonly name: string
  readonly results: PassResults
  readonly seconds: number
}

/**
 * The lines of the summary, the most important last, because logs are cut at their beginning. `surplus` says which passes
 * skipped too many tests, and which tests.
 */
export function describeParts(parts: readonly Part[], surplus: readonly string[]): string[] {
  const skipped = parts.flatMap(({ name, results }) =>
    results.skipped.map((test) => `  ${name}: ${test.name} (${test.reason})`),
  )
  const unsteady = parts.flatMap(({ name, results }) =>
    describeFailures(name, { failures: results.unsteady, reasons: results.reasons }),
  )
  const failures = parts.flatMap(({ name, results }) => describeFailures(name, results))
  return [
    ...section('Skipped:', skipped),
    ...section('Failed among others, passed alone:', unsteady),
    ...parts.map(describePart),
    '',
    ...section('Failed:', failures),
    ...surplus,
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
    return `${first}${count}${reasonOf(first)}`
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
