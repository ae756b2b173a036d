/**
 * docs/internals/shared-objects.md lists for every shared kernel object which account is charged, what bounds it, and
 * its test.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { checkoutRoot, readText } from './support/sources/checkout.ts'

const head = ['Object', 'Who pays', 'What bounds it', 'Test']
const rows = readText('docs/internals/shared-objects.md')
  .split('\n')
  .filter((line) => line.startsWith('|') && !line.startsWith('|--'))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
const objects = rows.filter(([first]) => first !== head[0])

test('every table has the same columns, and no cell is empty', () => {
  for (const row of rows.filter(([first]) => first === head[0])) assert.deepEqual(row, head)
  assert.ok(objects.length > 30, `only ${objects.length} rows`)
  for (const row of objects) {
    assert.equal(row.length, head.length, row[0])
    assert.ok(
      row.every((cell) => cell.length > 1),
      row[0],
    )
  }
})

test('every row names existing tests, or says why there is none, and how that is known', () => {
  for (const [object, , , last = ''] of objects) {
    if (last.startsWith('—')) {
      assert.match(last, /^— out of reach \((?:measured|reasoned)\): \S.{10,}/, object)
      continue
    }
    const named = [...last.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    assert.ok(named.length > 0, object)
    for (const name of named)
      assert.ok(existsSync(join(checkoutRoot, 'test', `${name}.test.ts`)), `${object}: ${name}`)
  }
})

test('no object is listed twice', () => {
  const names = objects.map(([object]) => object)
  assert.equal(new Set(names).size, names.length)
})
