/** What a pass came to, and the reporter of node:test that writes it down. */
import type { TestEvent } from 'node:test/reporters'
import { FileCounts, shortPath } from './file-counts.ts'
import type { FileResults } from './file-counts.ts'

export interface SkippedTest {
  readonly name: string
  readonly reason: string
}

export interface PassResults {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly SkippedTest[]
  /** The files that have run to their end. */
  readonly files: readonly FileResults[]
}

/** One JSON document, when everything has run. */
export default async function* reportResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = new FileCounts()
  const files: FileResults[] = []
  const skipped: SkippedTest[] = []
  const results = (): PassResults => ({ ...counts.total, skipped, files })
  for await (const event of events) {
    const file = counts.add(event)
    if (file !== undefined) files.push(file)
    // Nothing comes after it, not even the end: what has run until now is the result.
    if (event.type === 'test:interrupted') yield JSON.stringify(results())
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, skip, todo, file: place = '' } = event.data
    // A suite that is skipped counts as one; a test that is only planned has not run either.
    if (skip !== undefined || todo !== undefined)
      skipped.push({ name: `${shortPath(place)}: ${name}`, reason: String(skip ?? todo) })
  }
  yield JSON.stringify(results())
}
