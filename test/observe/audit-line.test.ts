/** A line of the audit log that was changed is none. verify-audit.test.ts has whole logs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { canonicalJson } from '../../src/observe/canonical-json.ts'
import { chainStart, readLine, writeLine } from '../../src/observe/audit-line.ts'
import type { Entry } from '../../src/observe/audit-line.ts'

const entry = {
  client: 'ada',
  statement: { id: 'one', outcome: 'completed', exitCode: 0 },
} as unknown as Entry
const line = writeLine(chainStart, entry).text.trimEnd()

test('a line is read as it was written', () => {
  const read = readLine(line)
  assert.deepEqual([read?.sequence, read?.previous, read?.client], [1, chainStart.sha256, 'ada'])
  const next = readLine(writeLine({ sequence: 1, sha256: read?.sha256 ?? '' }, entry).text.trimEnd())
  assert.deepEqual([next?.sequence, next?.previous], [2, read?.sha256])
})

test('a line in which any character was changed is no line', () => {
  for (const at of line.split('').keys()) {
    const other = line[at] === '0' ? '1' : '0'
    assert.equal(readLine(line.slice(0, at) + other + line.slice(at + 1)), undefined, `character ${at}`)
  }
})

test('a line with another text and its old hash is no line', () => {
  const changed = { ...(JSON.parse(line) as object), client: 'bob' }
  assert.equal(readLine(canonicalJson(changed)), undefined)
})

test('the same line in another spelling is no line', () => {
  assert.equal(readLine(line.replace('{', '{ ')), undefined)
  assert.equal(readLine(`${line} `), undefined)
})
