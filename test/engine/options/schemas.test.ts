import assert from 'node:assert/strict'
import { test } from 'node:test'

import { z } from 'zod'

import { defaultLimits } from '../../../src/core/limits.ts'
import { absolutePath, describeIssues, limitsSchema } from '../../../src/policy/schemas.ts'

test('any subset of limits is accepted, and all defaults', () => {
  assert.deepEqual(limitsSchema.parse(defaultLimits), defaultLimits)
  assert.deepEqual(limitsSchema.parse({}), {})
})

test('every limit has an upper bound', () => {
  for (const name of Object.keys(defaultLimits)) {
    for (const value of [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, -1, Number.NaN, '5']) {
      assert.ok(!limitsSchema.safeParse({ [name]: value }).success, `${name} ${value}`)
    }
  }
})

test('absolute paths have one canonical form', () => {
  for (const path of ['/', '/a', '/a/b c', '/…', '/a..b'])
    assert.ok(absolutePath.safeParse(path).success, path)
  for (const path of [
    '',
    'a',
    './a',
    '/a/',
    '/a//b',
    '/a/./b',
    '/a/..',
    '//a',
    '/\0',
    `/${'x'.repeat(4096)}`,
  ]) {
    assert.ok(!absolutePath.safeParse(path).success, path)
  }
})

test('the first few issues are named by their path, and their values are cut', () => {
  const schema = z.strictObject({
    list: z.array(z.number()),
    map: z.record(z.string().max(3, 'too long'), z.number()),
  })
  const describe = (value: unknown) => describeIssues(schema.safeParse(value).error ?? assert.fail())
  assert.match(describe({ list: [1, 'x'], map: {} }), /^list\[1\]: /)
  assert.match(describe({ list: [], map: { 'a b c': 1 } }), /^map\["a b c"\]: too long/)
  const many = describe({ list: Array.from({ length: 100 }, () => 'x'), map: {} })
  assert.equal(many.split('; ').length, 8)
  assert.ok(describe({ list: [], map: { ['k'.repeat(10_000)]: 1 } }).length < 500)
})
