/** The guest controls both the output and the text that is searched in it, so the search must take linear time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'
import { describeResult } from '../../src/adapters/mcp/describe-result.ts'
import type { RunData } from '../../src/core/result.ts'
import { isPrinted } from '../../src/result/is-printed.ts'
import { createResult } from '../../src/result/run-result.ts'
import { keepLoopFree } from '../support/machine/loop-delay.ts'

const MiB = 1024 * 1024
/** Every position of the output matches the first sixty thousand characters of the error, but not the rest. */
const stderr = 'a'.repeat(2 * MiB)
const errors = {
  'a message': { name: 'aaaaaaaa', message: 'a'.repeat(60_000) },
  'a stack': { name: 'a', message: '', stack: `${'a'.repeat(1000)}b${'a'.repeat(60_000)}` },
  'a stack that nearly has the message': {
    name: 'c',
    message: 'a'.repeat(30_000),
    stack: `${'a'.repeat(60_000)}`,
  },
}

for (const [name, error] of Object.entries(errors))
  test(`${name} that nearly occurs everywhere in the output does not block the loop`, async () => {
    const data: RunData = {
      ...{
        id: 'a',
        displays: [],
        files: {},
        executables: [],
        folders: [],
        missingFiles: [],
        logs: [],
        stdout: '',
        stderr,
        truncated: [],
      },
      outcome: { kind: 'failed', exitCode: 1, error },
      usage: { wallMs: 1, cpuMs: 1, memoryPeakBytes: 1, queuedMs: 0, outputBytes: 0 },
      receipt: { layers: [] as readonly string[] } as RunData['receipt'],
    }
    await keepLoopFree(`${name}, as text`, async () => createResult(data).toText())
    await keepLoopFree(`${name}, over MCP`, async () => describeResult(createResult(data)))
  })

test('a part of a text is found at any place, and nothing else', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), maxLength: 12 })
  fc.assert(fc.property(few, few, (part, text) => assert.equal(isPrinted(part, text), text.includes(part))))
})
