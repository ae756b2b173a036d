/** The JUnit report of a pass, for CI systems. Another reporter would exceed the listeners that Node expects of its runner. */
import { writeFileSync } from 'node:fs'
import { junit } from 'node:test/reporters'
import type { TestEvent } from 'node:test/reporters'

const variable = 'LAZARET_TESTS_JUNIT'

/** The variable by which Node's runner finds the file. */
export const junitVariable = (file: string): Record<string, string> => ({ [variable]: file })

export async function writeJunit(events: readonly TestEvent[]): Promise<void> {
  const file = process.env[variable]
  if (file === undefined) return
  const parts: string[] = []
  for await (const part of junit(replay(events))) parts.push(part)
  writeFileSync(file, parts.join(''))
}

async function* replay(events: readonly TestEvent[]): AsyncGenerator<TestEvent, void> {
  yield* events
}
