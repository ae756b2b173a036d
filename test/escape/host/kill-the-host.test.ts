/** SIGKILL of the host process during its runs: no handler runs, and still no process may survive. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { eventually } from '../../support/eventually.ts'
import { listCgroups } from '../../support/machine/leaks.ts'
import { isAlive, listCells, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const deadMs = 1000

const longMs = 300_000
const ownIds = process.geteuid?.() === 0

async function startHost(wallMs = longMs) {
  const program = join(import.meta.dirname, '../../support/hosts/sleeping-host.ts')
  const host = spawn(process.execPath, [program, String(wallMs)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = host.pid as number
  guests.leaks.allow(pid)
  try {
    const [word] = await once(host.stdout, 'data')
    assert.equal(String(word), 'asleep\n')
    const cells = listCells(pid)
    assert.equal(cells.length, 3)
    const processes = listDescendants(pid)
    assert.ok(processes.length >= 10)
    guests.leaks.noteProcesses(processes)
    return { host, pid, cells, processes }
  } catch (error) {
    host.kill('SIGKILL')
    throw error
  }
}

async function waitUntilDead(processes: readonly HostProcess[], withinMs: number): Promise<void> {
  await eventually(() => {
    const left = processes.filter(isAlive)
    return left.length === 0
      ? undefined
      : `alive: ${left.map(({ pid, name }) => `${pid} (${name})`).join(', ')}`
  }, withinMs)
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`after ${signal} of the host nothing of its cells is alive within a second`, async () => {
    const { host, processes } = await startHost()
    assert.ok(processes.some(({ name }) => name === 'nursery'))
    const ended = once(host, 'exit')
    host.kill(signal)
    await waitUntilDead(processes, deadMs)
    assert.deepEqual(await ended, [null, signal])
  })
}

test('after SIGKILL of the host a stopped nursery is dead as well', async () => {
  const { host, processes } = await startHost()
  const nursery = processes.find(({ name }) => name === 'nursery')
  assert.ok(nursery !== undefined)
  process.kill(nursery.pid, 'SIGSTOP')
  host.kill('SIGKILL')
  await once(host, 'exit')
  await waitUntilDead(processes, deadMs)
})

test('after SIGKILL of a host whose stubs are stopped no guest is alive within a second', async () => {
  const { host, cells } = await startHost()
  for (const { stub } of cells) process.kill(stub.pid, 'SIGSTOP')
  host.kill('SIGKILL')
  try {
    await waitUntilDead(
      cells.flatMap((cell) => [cell.pid1, ...cell.guests]),
      deadMs,
    )
  } finally {
    for (const { stub } of cells) process.kill(stub.pid, 'SIGCONT')
  }
})

test('the guests of a stopped host still end at their deadline', async () => {
  const { host, cells } = await startHost(4000)
  host.kill('SIGSTOP')
  try {
    await waitUntilDead(
      cells.flatMap((cell) => cell.guests),
      8000,
    )
  } finally {
    host.kill('SIGKILL')
  }
})

/** Cgroups and folders that carry the number of a host process in their names. */
function listLeftBehind(pid: number): string[] {
  const folders = readdirSync(guests.leaks.temporaryFolder).filter((name) => name.includes(`-${pid}-`))
  return [...listCgroups(new RegExp(`/lazaret-\\d+-${pid}-`)), ...folders]
}

/** Another process's Lazaret may have begun to remove it first. */
async function waitUntilRemoved(pid: number): Promise<void> {
  await eventually(() => {
    const left = listLeftBehind(pid)
    return left.length === 0 ? undefined : `left behind: ${left.join(', ')}`
  }, deadMs)
}

async function runNext(): Promise<void> {
  await using next = createLazaret()
  assert.equal((await next.run({ language: 'shell', code: 'echo next' })).stdout, 'next\n')
}

const leavesNothing =
  guests.heldByCgroup || guests.level === 'restricted'
    ? false
    : 'a killed host leaves neither cgroups nor a folder here: there is nothing to sweep'

test('the next Lazaret removes what a killed host left behind', { skip: leavesNothing }, async () => {
  const { host, pid, processes } = await startHost()
  assert.ok(listLeftBehind(pid).length >= 1)
  if (guests.heldByCgroup) assert.ok(listCgroups(new RegExp(`/lazaret-\\d+-${pid}-`)).length >= 4)
  host.kill('SIGKILL')
  await once(host, 'exit')
  await waitUntilDead(processes, deadMs)
  await runNext()
  // A process that has just died may still be in its cgroup, which the next start removes.
  if (listLeftBehind(pid).length > 0) await runNext()
  await waitUntilRemoved(pid)
})

const hasPidNamespaces = guests.level !== 'restricted'

test('if a host, its stubs and its pid 1s die at the same moment, later hosts end and remove what they leave', async () => {
  const { host, pid, cells } = await startHost()
  for (const { stub } of cells) process.kill(stub.pid, 'SIGSTOP')
  for (const { pid1 } of cells) process.kill(pid1.pid, 'SIGKILL')
  const exited = once(host, 'exit')
  host.kill('SIGKILL')
  for (const { stub } of cells) process.kill(stub.pid, 'SIGKILL')
  await exited
  const left = cells.flatMap((cell) => cell.guests)
  if (hasPidNamespaces) await waitUntilDead(left, deadMs)
  // The death of their parent has not ended them, and the next Lazaret recognizes them only by their uid.
  else assert.ok(left.some(isAlive))
  await runNext()
  if (hasPidNamespaces || ownIds) await waitUntilDead(left, deadMs)
  else for (const one of left.filter(isAlive)) process.kill(one.pid, 'SIGKILL')
  // Cgroups that still had processes when it started.
  await runNext()
  await waitUntilRemoved(pid)
})
