/** What a pass came to, and the reporter of node:test that writes it down. */
import type { TestEvent } from 'node:test/reporters'

export interface SkippedTest {
  readonly name: string
  readonly reason: string
}

export interface PassResults {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly SkippedTest[]
}

/** One JSON document, when everything has run. */
export default async function* reportResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: SkippedTest[] = []
  let passed = 0
  let failed = 0
  for await (const event of events) {
    // Nothing comes after it, not even the end: what has run until now is the result.
    if (event.type === 'test:interrupted')
      yield JSON.stringify({ passed, failed, skipped } satisfies PassResults)
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, skip, todo, details, file = '' } = event.data
    if (skip !== undefined || todo !== undefined) {
      // A suite that is skipped counts as one; a test that is only planned has not run either.
      skipped.push({ name: `${shortPath(file)}: ${name}`, reason: String(skip ?? todo) })
    } else if (isFailure(event)) failed++
    else if (event.type === 'test:pass' && details.type !== 'suite') passed++
  }
  yield JSON.stringify({ passed, failed, skipped } satisfies PassResults)
}

/** A failure of its own, not the consequence of one inside it. A file without any test is one too. */
export function isFailure(event: TestEvent): boolean {
  if (event.type === 'test:pass') return isFileWithoutTests(event)
  if (event.type !== 'test:fail' || event.data.todo !== undefined) return false
  const error: unknown = event.data.details.error
  return !(error instanceof Error && 'failureType' in error && error.failureType === 'subtestsFailed')
}

/** node:test lets such a file pass, as a test with the file's name. */
export function isFileWithoutTests(event: TestEvent): boolean {
  return event.type === 'test:pass' && event.data.name === shortPath(event.data.file ?? '')
}

/** Relative to the checkout, where the runner stands. */
export function shortPath(file: string): string {
  const root = `${process.cwd()}/`
  return file.startsWith(root) ? file.slice(root.length) : file
}
