/** Resources that cannot be returned at first, such as a cgroup in which a process is still ending. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Leases } from '../../../src/jail/machine/leases.ts'
import { FakeClock } from '../../pool/fake-worker.ts'

/** Something that can be returned once it is free. */
function resource(name: string, log: string[]) {
  const one = {
    isFree: false,
    giveBack: (): void => {
      log.push(name)
      if (!one.isFree) throw new Error(`${name} is in use`)
    },
  }
  return one
}

test('what could not be returned is tried again as others are taken, one each time', () => {
  const leases = new Leases()
  const log: string[] = []
  const [first, second] = [resource('first', log), resource('second', log)]
  const releases = [first, second].map(({ giveBack }) => leases.add(giveBack))
  for (const release of releases) assert.throws(release, /is in use/)
  log.length = 0
  leases.add(() => undefined)
  assert.deepEqual([log, leases.unreturned.length], [['first'], 3])
  first.isFree = second.isFree = true
  for (let taken = 0; taken < 3; taken++) leases.add(() => undefined)
  assert.deepEqual(log, ['first', 'second', 'first'])
  for (const release of releases) release()
  assert.deepEqual(log, ['first', 'second', 'first'])
  assert.equal(leases.unreturned.length, 4)
})

test('what was never released is not returned by others', () => {
  const leases = new Leases()
  const log: string[] = []
  leases.add(resource('kept', log).giveBack)
  leases.add(() => undefined)
  assert.deepEqual([log, leases.unreturned.length], [[], 2])
})

test('what could not be returned is tried again every second, although nothing else is taken', () => {
  const clock = new FakeClock()
  const leases = new Leases(clock)
  const log: string[] = []
  const one = resource('one', log)
  assert.throws(leases.add(one.giveBack), /is in use/)
  clock.advance(2000)
  assert.deepEqual(log, ['one', 'one', 'one'])
  one.isFree = true
  clock.advance(5000)
  assert.deepEqual([log.length, leases.unreturned], [4, []])
})
