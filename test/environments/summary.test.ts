/** Reports of installers, which code of packages may have forged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { npmSummary } from '../../src/environments/npm-packages.ts'
import { pythonSummary } from '../../src/environments/python-packages.ts'
import { readSummary } from '../../src/environments/summary.ts'

test('names, versions and hashes are accepted', () => {
  const hash = 'a'.repeat(64)
  assert.deepEqual(readSummary(`["a.b-c","1.0+x","${hash}"]\n["d","2",""]\n`, pythonSummary), [
    ['a.b-c', '1.0+x', hash],
    ['d', '2', ''],
  ])
  assert.deepEqual(readSummary('["@a/b","1.0.0-rc.1"]', npmSummary), [['@a/b', '1.0.0-rc.1']])
  assert.deepEqual(readSummary('', npmSummary), [])
})

test('anything else is refused, and quoted', () => {
  const lines = ['', '[', 'null', '["a"]', '["a","1",""]x', '["\\u001b[31m","1",""]', '["a\\n","1",""]']
  const others = [
    '["a --index-url x","1",""]',
    '["a","1 --hash","" ]',
    `["${'a'.repeat(201)}","1",""]`,
    '["a","1","x"]',
  ]
  for (const line of [...lines.slice(1), ...others])
    assert.throws(
      () => readSummary(`["good","1",""]\n${line}\n`, pythonSummary),
      (error: Error) => {
        assert.equal((error as { code?: string }).code, 'ENVIRONMENT_FAILED', line)
        assert.ok(!/\p{Cc}/u.test(error.message), line)
        return true
      },
    )
  assert.throws(() => readSummary('["../../../x y","1"]', npmSummary), { code: 'ENVIRONMENT_FAILED' })
})
