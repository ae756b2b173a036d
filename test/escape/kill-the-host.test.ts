/** SIGKILL of the host process in the middle of its runs: no handler of ours runs, and still nothing may live on. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { listCgroups } from '../support/leaks.ts'
import { isAlive, listCells, listDescendants } from '../support/processes.ts'
import { useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const deadMs = 1000

async function startHost() {
  const host = spawn(process.execPath, [join(import.meta.dirname, '../support/sleeping-host.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = host.pid as number
  guests.leaks.allow(pid)
  const [word] = await once(host.stdout, 'data')
  assert.equal(String(word), 'asleep\n')
  assert.equal(listCells(pid).length, 3)
  return { host, pid, processes: listDescendants(pid) }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`after ${signal} of the host nothing of its cells is alive within a second`, async () => {
    const { host, processes } = await startHost()
    assert.ok(processes.length >= 10)
    const ended = once(host, 'exit')
    host.kill(signal)
    await eventually(() => {
      const left = processes.filter(isAlive)
      return left.length === 0
        ? undefined
        : `alive: ${left.map(({ pid, name }) => `${pid} (${name})`).join(', ')}`
    }, deadMs)
    assert.deepEqual(await ended, [null, signal])
  })
}

const noCgroups = guests.heldByCgroup ? false : 'no cgroups of ours here: there is nothing to sweep'

test('the next Lazaret removes the cgroups that a killed host left behind', { skip: noCgroups }, async () => {
  const { host, pid, processes } = await startHost()
  const pattern = new RegExp(`/lazaret-\\d+-${pid}-`)
  assert.ok(listCgroups(pattern).length >= 4)
  host.kill('SIGKILL')
  await once(host, 'exit')
  await eventually(() => (processes.some(isAlive) ? 'its cells are still dying' : undefined), deadMs)
  await using next = createLazaret()
  assert.equal((await next.run({ language: 'shell', code: 'echo next' })).stdout, 'next\n')
  assert.deepEqual(listCgroups(pattern), [])
})
