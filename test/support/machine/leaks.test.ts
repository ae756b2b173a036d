/** The leak check itself must detect everything that a run could leave behind. */
import assert from 'node:assert/strict'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { listCells, listProcesses } from './processes.ts'
import { shell, useLazaret } from '../use-lazaret.ts'

// With options, even empty ones, this file gets its own process: the check would also report leftovers of other files.
const { leaks, run, heldByCgroup } = await useLazaret({})

test('a cell that still exists is detected: its processes, its descriptors and its cgroup', async () => {
  const up = Promise.withResolvers<void>()
  const stop = new AbortController()
  const running = run({
    ...shell,
    code: 'echo up; sleep 60',
    onOutput: () => up.resolve(),
    signal: stop.signal,
  })
  await up.promise
  // Call this first, because processes that it starts later may be part of the leftovers.
  const [cell] = listCells()
  const left = leaks.describeLeft() ?? ''
  assert.ok(cell !== undefined && cell.guests.length > 0)
  for (const { pid } of [cell.stub, cell.pid1, ...cell.guests])
    assert.match(left, new RegExp(`process ${pid} `))
  assert.match(left, /more descriptors than before/)
  assert.equal(/\/cell-\d+/.test(left), heldByCgroup)
  stop.abort()
  await running
})

test('a descriptor and a temporary file are detected', () => {
  const descriptor = openSync('/dev/null', 'r')
  assert.match(leaks.describeLeft() ?? '', /1 more descriptors/)
  closeSync(descriptor)
  const file = join(leaks.temporaryFolder, 'left')
  writeFileSync(file, '')
  assert.match(leaks.describeLeft() ?? '', /left$/)
  rmSync(file)
})

test('a recorded process is detected until it has ended', () => {
  const self = listProcesses().filter(({ pid }) => pid === process.pid)
  leaks.noteProcesses(self)
  assert.match(leaks.describeLeft() ?? '', new RegExp(`process ${process.pid} `))
  leaks.forgetProcesses()
  assert.equal(leaks.describeLeft(), undefined)
})
