import assert from 'node:assert/strict'
import { test } from 'node:test'

import { runSteps } from '../../src/core/steps.ts'
import { measureMessage } from '../../src/runtimes/channel/message-cost.ts'

const measure = (text: string) => runSteps(measureMessage(Buffer.from(text)))

test('lists and objects are counted, but not inside strings', () => {
  assert.deepEqual(measure('[{"a":["[{",1]},"\\"[",{}]'), { containers: 4, keys: 1, members: 3 })
})

test('an object with a tag counts as several, also if the tag is escaped', () => {
  assert.deepEqual(measure('{"$type":"Set"}'), { containers: 4, keys: 1, members: 0 })
  assert.deepEqual(measure('{"\\u0024type":"Set"}'), { containers: 4, keys: 1, members: 0 })
})

test('a key counts once, however many records have it', () => {
  const records = Array.from({ length: 1000 }, (_, index) => ({ id: index, name: `n${index}`, 'a"b:': 1 }))
  assert.deepEqual(measure(JSON.stringify(records)), { containers: 1001, keys: 3, members: 2999 })
})

test('different keys are distinguished, except for a few', () => {
  const length = 200_000
  const keys = Array.from({ length }, (_, index) => `"key ${index}" :1`)
  const { keys: counted } = measure(`{${keys.join(',')}}`)
  assert.ok(counted > 0.95 * length && counted <= length, `${counted} keys`)
})

test('invalid JSON is measured, too', () => {
  for (const text of ['', '"', '"\\', '"a', '{"a"', '"a"  ', '\\"']) assert.ok(measure(text).containers <= 1)
})
