/** A result survives JSON: every guest value, in each language, arrives complete on the other side. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'
import { toJsonLine } from '../../src/adapters/cli/output/print-json.ts'
import { decodeValue } from '../../src/core/values/values.ts'
import type { ResultDocument, RunRequest } from '../../src/index.ts'
import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'
import { anyValue } from './any-value.ts'
import { assertSame } from './same-value.ts'

const { run } = await useLazaret()
const values = fc.sample(anyValue, { numRuns: 300 })

for (const { language, runtime, echo } of [
  { ...bun, echo: 'input' },
  { ...node, echo: 'input' },
  { ...python, echo: 'input_data' },
]) {
  test(`${runtime}: JSON.stringify(result) loses nothing and never throws`, async () => {
    const result = await run({ language, runtime, code: echo, input: values })
    const text = JSON.stringify(result)
    assert.equal(text, JSON.stringify(JSON.parse(toJsonLine(result))), 'the document of --json')
    const travelled = JSON.parse(text) as ResultDocument
    assertSame(decodeValue(travelled.value), result.value)
    assert.equal(travelled.ok, true)
  })
}

test('values that JSON cannot express are preserved, too, and so are all parts of a result', async () => {
  const request: RunRequest = {
    language: 'javascript',
    code: `require('fs').writeFileSync('a.bin', Buffer.from([0, 255]))
const map = new Map([[1n, new Set([new Date(0)])]])
map.set('self', map)
map`,
    collect: ['a.bin'],
  }
  const result = await run(request)
  const travelled = JSON.parse(JSON.stringify({ inside: [result] })) as { inside: [ResultDocument] }
  const [{ value, files, ok, outcome, receipt }] = travelled.inside
  assertSame(decodeValue(value), result.value)
  assert.deepEqual(files, { 'a.bin': { mime: 'application/octet-stream', base64: 'AP8=' } })
  assert.deepEqual({ ok, outcome, receipt }, { ok: true, outcome: result.outcome, receipt: result.receipt })
})

test('an object with special keys of JSON is data', async () => {
  const code = `({ toJSON: 'mine', ['__proto__']: 1, toText: 2, ok: false })`
  const result = await run({ language: 'javascript', code })
  const { value, ok } = JSON.parse(JSON.stringify(result)) as ResultDocument
  assertSame(decodeValue(value), result.value)
  assert.equal(ok, true)
})
