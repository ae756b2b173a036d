/** What a person reads while the tests run: a line a file, and each failure where it happens. */
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { isFailure, isFileWithoutTests, shortPath } from './results.ts'

export default async function* reportToPerson(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:stderr') yield event.data.message
    else if (event.type === 'test:summary' && event.data.file !== undefined) yield describeFile(event.data)
    else if (event.type === 'test:interrupted') yield describeUnfinished(event.data.tests)
    else if (isFailure(event)) yield describeFailure(event)
  }
}

/** `failed` is there, and is missing in the types. */
type Counts = SummaryEvent['counts'] & { readonly failed: number }
type SummaryEvent = Extract<TestEvent, { type: 'test:summary' }>['data']

function describeFile({ file = '', counts, duration_ms: durationMs, success }: SummaryEvent): string {
  const { passed, failed, cancelled, skipped, todo } = counts as Counts
  const parts = [`${passed} passed`]
  if (failed + cancelled > 0) parts.push(`${failed + cancelled} failed`)
  if (skipped + todo > 0) parts.push(`${skipped + todo} skipped`)
  return `${success ? '✔' : '✖'} ${shortPath(file)}: ${parts.join(', ')} (${Math.round(durationMs)} ms)\n`
}

function describeFailure(event: TestEvent): string {
  if (event.type !== 'test:fail' && event.type !== 'test:pass') return ''
  const { name, file = '', line = 0 } = event.data
  const heading = `✖ ${shortPath(file)}:${line}: ${name}`
  if (isFileWithoutTests(event)) return `${heading}\n    This file has no tests.\n`
  const error: unknown = event.type === 'test:fail' ? event.data.details.error : undefined
  const shown = inspect(error instanceof Error ? (error.cause ?? error) : error, { depth: 6 })
  return `${heading}\n${shown.replace(/^/gm, '    ')}\n`
}

/** A file whose tests have all run and that is here nevertheless holds a timer, a descriptor or a child. */
function describeUnfinished(tests: readonly { name: string; file?: string }[]): string {
  return tests.map(({ name, file = '' }) => `✖ ${shortPath(file)}: ${name}: had not ended\n`).join('')
}
