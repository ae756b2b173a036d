/** What a pass came to, and the reporter that writes it down while `node --test` runs. */
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

/** A reporter of node:test: one JSON document at the end. */
export default async function* reportResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: SkippedTest[] = []
  let passed = 0
  let failed = 0
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, skip, todo, details, file = '' } = event.data
    const isSuite = details.type === 'suite'
    if (skip !== undefined || todo !== undefined) {
      // A whole suite that is skipped counts as one; a test that is only planned has not run either.
      skipped.push({ name: `${shortPath(file)}: ${name}`, reason: String(skip ?? todo) })
    } else if (event.type === 'test:fail') {
      if (!isConsequence(event)) failed++
    } else if (!isSuite) passed++
  }
  yield JSON.stringify({ passed, failed, skipped } satisfies PassResults)
}

/** Whether a test failed only because a test inside it did, which has been counted already. */
export function isConsequence(event: Extract<TestEvent, { type: 'test:fail' }>): boolean {
  const error: unknown = event.data.details.error
  return error instanceof Error && 'failureType' in error && error.failureType === 'subtestsFailed'
}

/** Relative to the checkout, where the runner stands. */
export function shortPath(file: string): string {
  const root = `${process.cwd()}/`
  return file.startsWith(root) ? file.slice(root.length) : file
}
