/** The output for people while tests run: a line for each file, and each failure when it happens. */
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { FileCounts, isFailure, isFileWithoutTests, shortPath } from './file-counts.ts'
import type { FileResults } from './file-counts.ts'

export default async function* reportToPerson(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = new FileCounts()
  for await (const event of events) {
    const file = counts.add(event)
    if (isFailure(event)) yield describeFailure(event)
    if (file !== undefined) yield describeFile(file)
    if (event.type === 'test:stderr') yield event.data.message
    else if (event.type === 'test:interrupted') yield describeUnfinished(event.data.tests)
  }
}

function describeFile({ file, passed, failed, skipped, durationMs, processorMs }: FileResults): string {
  const parts = [`${passed} passed`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (skipped > 0) parts.push(`${skipped} skipped`)
  const times = `${durationMs} ms${processorMs === undefined ? '' : `, processors ${processorMs} ms`}`
  return `${failed === 0 ? '✔' : '✖'} ${file}: ${parts.join(', ')} (${times})\n`
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

/** A file that is listed although all of its tests have run holds a timer, a descriptor or a child. */
function describeUnfinished(tests: readonly { name: string; file?: string }[]): string {
  return tests.map(({ name, file = '' }) => `✖ ${shortPath(file)}: ${name}: had not ended\n`).join('')
}
