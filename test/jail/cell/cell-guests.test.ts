import assert from 'node:assert/strict'
import { test } from 'node:test'

import { CellGuests } from '../../../src/jail/cell/cell-guests.ts'
import { inletCreditBytes } from '../../../src/jail/launch/frames.ts'
import { exceeded } from '../../../src/result/exit.ts'
import { listFiles, readText } from '../../support/sources/checkout.ts'
import { readEnums } from '../launch/c-source.ts'

const failure = { record: 0, step: 'find room for another process', errno: 11 }

function listen(events: string[]) {
  const listener = {
    onSpawned: () => void events.push('spawned'),
    onOutput: () => void events.push('output'),
    onExceeded: () => void events.push('exceeded'),
    onUsage: () => void events.push('usage'),
    onExit: () => void events.push('exit'),
    onLost: () => void events.push('lost'),
  }
  return { listener, onFailure: () => void events.push('failed') }
}

test('a process that could not be started is forgotten, and writes to it do not wait', async () => {
  const events: string[] = []
  const guests = new CellGuests(
    () => undefined,
    () => undefined,
  )
  guests.add(1, listen(events))
  const writing = guests.write(1, Buffer.alloc(inletCreditBytes + 1))
  assert.equal(guests.fail(1, failure), true)
  await writing
  assert.equal(guests.fail(1, failure), false)
  guests.lose()
  assert.deepEqual(events, ['failed'])
})

test('a process of a cell that is gone is lost, and writes to it do not wait', async () => {
  const events: string[] = []
  const guests = new CellGuests(
    () => undefined,
    () => undefined,
  )
  guests.lose()
  guests.add(1, listen(events))
  await guests.write(1, Buffer.alloc(inletCreditBytes + 1))
  assert.deepEqual(events, ['lost'])
})

test('the limits for which pid 1 ends a run have the launcher’s numbers', () => {
  const headers = listFiles('native/cell', ['.h']).map(readText).join('\n')
  const members = Object.entries(readEnums(headers)).filter(([name]) => name.startsWith('EXCEEDED_'))
  assert.deepEqual(
    Object.fromEntries(members.map(([name, number]) => [number, name])),
    Object.fromEntries(
      Object.entries(exceeded).map(([number, name]) => [number, `EXCEEDED_${name.toUpperCase()}`]),
    ),
  )
})
