import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import { listDescendants } from '../support/machine/processes.ts'

/** Somebody outside stops pid 1 of a zygote's cell, which alone can report the end of a parked guest. */
test('a host ends also when pid 1 of a zygote’s cell has been stopped', async () => {
  const lazaret = createLazaret({ onEvent: () => undefined })
  await lazaret.warmUp({ language: 'python', count: 1 })
  const before = listDescendants(process.pid)
  const zygote = before.find(({ name }) => name.startsWith('python'))
  const victim = before.find(({ pid }) => pid === zygote?.parent)
  assert.ok(victim !== undefined, 'there is a zygote')
  process.kill(victim.pid, 'SIGSTOP')
  await lazaret[Symbol.asyncDispose]()
  assert.deepEqual(listDescendants(process.pid), [])
})
