/** The results of a pass, and the reporter of node:test that writes them. */
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { hasDied, wasStuck } from './failures.ts'
import { FileCounts, isFailure, isGroupEnd, shortPath } from './file-counts.ts'
import type { FileResults } from './file-counts.ts'
import { writeJunit } from './junit.ts'
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
  /** Tests that failed among others and passed twice when their file ran again, alone. */
  readonly flaky: readonly string[]
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
  flaky: [],
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
    flaky: [],
    files,
    processorMs: endedChildrenMs(),
  })
  const sameReason = new SameReason()
  let isStopping = false
  const seen: TestEvent[] = []
  for await (const event of events) {
    seen.push(event)
    const file = counts.add(event)
    // No event follows, not even the end, so the result is what has run so far.
    if (event.type === 'test:interrupted') yield JSON.stringify(results())
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { name, skip, todo, file: place = '' } = event.data
      const test = `${shortPath(place)}: ${name}`
      if (isFailure(event)) {
        failures.push(test)
        reasons[test] = reasonOf(event)
        const count = sameReason.add(test, reasons[test])
        if (count !== undefined && !isStopping) {
          isStopping = true
          failures.push(`stopped: ${count} files have failed for one reason`)
          // Ends the runner's processes; it then reports an interruption.
          process.kill(process.pid, 'SIGTERM')
        }
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
  await writeJunit(seen)
}

/** A test of a contract or a shared hook is reported under the file that defines it, which several test files may use. */
function nameIn(file: string, failure: string): string {
  return failure.startsWith(`${file}:`) ? failure : `${file}: ${failure}`
}

const reasonCharsMax = 300

/** Quoted, because it may contain guest text. */
function reasonOf(event: TestEvent): string {
  const error: unknown = event.type === 'test:fail' ? event.data.details.error : undefined
  if (wasEnded(error)) return wasStuck
  if (hasExited(error)) return `${hasDied} (${error.signal ?? `exit code ${error.exitCode}`})`
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const text = cause instanceof Error ? cause.message : inspect(cause)
  const place = cause instanceof Error ? placeOf(cause) : undefined
  const said = JSON.stringify(text.trim().replaceAll(/\s+/g, ' ').slice(0, reasonCharsMax))
  return place === undefined ? said : `${said} (${place})`
}

function wasEnded(error: unknown): boolean {
  if (!hasExited(error)) return false
  return error.signal === 'SIGKILL'
}

/** Node's runner reports the end of a process in which no test failed. */
function hasExited(error: unknown): error is Error & { exitCode: number | null; signal: string | null } {
  return error instanceof Error && 'exitCode' in error && 'signal' in error
}

/** The line of the first call in a test. */
function placeOf({ stack = '' }: Error): string | undefined {
  // The checkout may be in a folder called `test`, too.
  const own = stack.replaceAll(`${process.cwd()}/`, '')
  return /(?<=^|[\s(]|file:\/\/)(?:test|test-deep)\/[\w/.-]+\.ts:\d+/.exec(own)?.[0]
}

/** How many files of a pass may fail for one reason before the rest would only repeat it. */
const sameReasonShare = 0.05
const sameReasonMin = 10
const reasonKeyChars = 60

/** Counts the files that fail for the same reason. */
class SameReason {
  readonly #files = new Map<string, Set<string>>()
  readonly #max = Math.max(sameReasonMin, sameReasonShare * Number(process.env['LAZARET_TESTS_FILES'] ?? 0))

  /** The number of files with this reason, once there are too many of them. */
  add(test: string, reason: string): number | undefined {
    const key = reason.replaceAll(/\d+/g, 'N').slice(0, reasonKeyChars)
    const files = this.#files.get(key) ?? new Set()
    this.#files.set(key, files.add(test.slice(0, test.indexOf(':'))))
    return files.size > this.#max ? files.size : undefined
  }
}
