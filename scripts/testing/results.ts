/** The results of a pass, and the reporter of node:test that writes them. */
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { FileCounts, isFailure, isGroupEnd, shortPath } from './file-counts.ts'
import type { FileResults } from './file-counts.ts'
import { stuckStatus } from './plan/processes.ts'
import { endedChildrenMs } from './processor-time.ts'

export interface SkippedTest {
  readonly name: string
  readonly reason: string
}

export interface PassResults {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly SkippedTest[]
  /** The tests that failed, by file and name. */
  readonly failures: readonly string[]
  /** The message and place of each failure, by the same names. */
  readonly reasons: Readonly<Record<string, string>>
  /** Tests that failed among others and passed when their file ran again, alone. */
  readonly unsteady: readonly string[]
  /** The files that have run to their end. */
  readonly files: readonly FileResults[]
  /** The processor time of its processes, which says more than elapsed time on a busy machine. */
  readonly processorMs: number
}

/** Of a pass in which nothing ran. */
export const noResults: PassResults = {
  passed: 0,
  failed: 0,
  skipped: [],
  failures: [],
  reasons: {},
  unsteady: [],
  files: [],
  processorMs: 0,
}

/** One JSON document, when everything has run. */
export default async function* reportResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = new FileCounts()
  const files: FileResults[] = []
  const skipped: SkippedTest[] = []
  const failures: string[] = []
  /** How many of the failures belong to files that have ended, or to none. */
  let assigned = 0
  const reasons: Record<string, string> = {}
  const results = (): PassResults => ({
    ...counts.total,
    skipped,
    failures,
    reasons,
    unsteady: [],
    files,
    processorMs: endedChildrenMs(),
  })
  for await (const event of events) {
    const file = counts.add(event)
    // No event follows, not even the end, so the result is what has run so far.
    if (event.type === 'test:interrupted') yield JSON.stringify(results())
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { name, skip, todo, file: place = '' } = event.data
      const test = `${shortPath(place)}: ${name}`
      if (isFailure(event)) {
        failures.push(test)
        reasons[test] = reasonOf(event)
      }
      // A suite that is skipped counts as one; a test that is only planned has not run either.
      if (skip !== undefined || todo !== undefined) skipped.push({ name: test, reason: String(skip ?? todo) })
    }
    if (file !== undefined) {
      files.push(file)
      for (const [index, failure] of failures.entries()) {
        const name = nameIn(file.file, failure)
        if (index < assigned || name === failure) continue
        failures[index] = name
        reasons[name] = reasons[failure] ?? ''
      }
    }
    if (file !== undefined || isGroupEnd(event)) assigned = failures.length
  }
  yield JSON.stringify(results())
}

/** A test of a contract or a shared hook is reported under the file that defines it, which several test files may use. */
function nameIn(file: string, failure: string): string {
  return failure.startsWith(`${file}:`) ? failure : `${file}: ${failure}`
}

/** The reason of a failure: `stuck-process.ts` or `hung-exits.ts` ended the process. */
export const wasStuck = 'the process was stuck, see above'

const reasonCharsMax = 300

/** Quoted, because it may contain guest text. */
function reasonOf(event: TestEvent): string {
  const error: unknown = event.type === 'test:fail' ? event.data.details.error : undefined
  if (wasEnded(error)) return wasStuck
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const text = cause instanceof Error ? cause.message : inspect(cause)
  const place = cause instanceof Error ? placeOf(cause) : undefined
  const said = JSON.stringify(text.trim().replaceAll(/\s+/g, ' ').slice(0, reasonCharsMax))
  return place === undefined ? said : `${said} (${place})`
}

function wasEnded(error: unknown): boolean {
  if (!(error instanceof Error && 'exitCode' in error && 'signal' in error)) return false
  return error.exitCode === stuckStatus || error.signal === 'SIGKILL'
}

/** The line of the first call in a test. */
function placeOf({ stack = '' }: Error): string | undefined {
  return /\b(?:test|test-deep)\/[\w/.-]+\.ts:\d+/.exec(stack)?.[0]
}
