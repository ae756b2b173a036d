/** Whether the tests noticed a defect. */
import type { PassResults } from '../testing/results.ts'
import type { Mutation } from './mutation.ts'

export interface Judged {
  readonly mutation: Mutation
  readonly passes: readonly PassResults[]
  /** Tests that also fail without a defect, now and then. */
  readonly unsteady: ReadonlySet<string>
  /** What the runner printed. */
  readonly output: string
  readonly seconds: number
}

/** A failed test, with its reason. */
interface Failure {
  readonly test: string
  readonly reason: string
}

/** Whether only files failed as a whole, as they do if the package cannot be loaded. */
export function isDoubtful(judged: Judged): boolean {
  return catches(judged).every(
    ({ test }) => test.includes('shared-process.ts') || test.split(': ').at(-1) === test.split(': ')[0],
  )
}

export function isCaught(judged: Judged): boolean {
  return explainSurvival(judged) === undefined
}

export function describeResult(judged: Judged): string {
  const { mutation, seconds, output } = judged
  const why = explainSurvival(judged)
  if (why !== undefined) return `✖ ${mutation.name} (${seconds} s): ${why}\n${output.replace(/^/gm, '    ')}`
  const [first, ...others] = catches(judged)
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `✔ ${mutation.name} (${seconds} s): ${first?.test}${more}\n    ${first?.reason}`
}

function explainSurvival(judged: Judged): string | undefined {
  if (catches(judged).length > 0) return undefined
  return `${judged.mutation.caughtBy.join(', ')} passed`
}

/** What a mistake in the defect itself would cause. */
const brokenCode =
  /\b(SyntaxError|ReferenceError|ERR_MODULE_NOT_FOUND|is not defined|does not provide an export)\b/

/** Failed tests of the named files. A file that fails as a whole could not be loaded, unless its process was stuck. */
function catches(judged: Judged): Failure[] {
  const { caughtBy } = judged.mutation
  return failuresOf(judged).filter(
    ({ test, reason }) => caughtBy.some((file) => test.startsWith(`${file}: `)) && !brokenCode.test(reason),
  )
}

function failuresOf({ passes }: Judged): Failure[] {
  return passes.flatMap(({ failures, reasons }) =>
    failures.map((test) => ({ test, reason: reasons[test] ?? '' })),
  )
}
