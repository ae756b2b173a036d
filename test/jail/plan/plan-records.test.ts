import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeRecord, encodePlan, recordNames } from '../../../src/jail/plan/plan-records.ts'
import { readSource } from '../launch/c-source.ts'
import { ownGround, planExample, sharedGround } from '../cell/example-cell.ts'

test('records have the order of the launcher’s table of steps', () => {
  const [, table = ''] =
    /steps\[\]\)\(struct reader \*\) = \{([^}]*)\}/.exec(readSource('build/plan.c')) ?? []
  const [first, ...steps] = table
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  assert.equal(first, 'NULL')
  assert.deepEqual(
    steps,
    recordNames.map((name) => `step_${name.replaceAll('-', '_')}`),
  )
})

test('a plan is a sequence of number, length and payload', () => {
  const plan = encodePlan([
    { do: 'hostname', name: 'cell' },
    { do: 'set-ids', uid: 1, gid: 2 },
    { do: 'serve' },
  ])
  const number = (name: (typeof recordNames)[number]) => recordNames.indexOf(name) + 1
  const expected = [
    [number('hostname'), 9, ...[5, 0, 0, 0, 0x63, 0x65, 0x6c, 0x6c, 0]],
    [number('set-ids'), 8, ...[1, 0, 0, 0, 2, 0, 0, 0]],
    [number('serve'), 0],
  ].flatMap(([operation = 0, length = 0, ...payload]) => [operation, 0, 0, 0, length, 0, 0, 0, ...payload])
  assert.deepEqual([...plan], expected)
})

test('a plan is only data: a copy gives the same bytes, and so do the same shape and ground', () => {
  for (const ground of [ownGround, sharedGround]) {
    const { records } = planExample(ground)
    const bytes = encodePlan(records)
    assert.deepEqual(encodePlan(structuredClone(records)), bytes)
    assert.deepEqual(encodePlan(planExample(structuredClone(ground)).records), bytes)
  }
})

test('the lengths of the records of a real plan add up to the last byte', () => {
  for (const ground of [ownGround, sharedGround]) {
    const { records } = planExample(ground)
    const plan = encodePlan(records)
    const operations: number[] = []
    let at = 0
    for (; at < plan.length; at += 8 + plan.readUInt32LE(at + 4)) operations.push(plan.readUInt32LE(at))
    assert.equal(at, plan.length)
    assert.deepEqual(
      operations.map((operation) => recordNames[operation - 1]),
      records.map((record) => record.do),
    )
  }
})

test('a record is described by what it touches', () => {
  assert.equal(describeRecord({ do: 'mask', path: '/proc/kcore' }), 'mask /proc/kcore')
  assert.equal(describeRecord({ do: 'guard' }), 'guard')
})
