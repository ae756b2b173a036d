/** SIGKILL of a host with busy sandboxes, and destruction of busy sandboxes: no process of them survives. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { eventually } from '../../support/eventually.ts'
import { listCgroups } from '../../support/machine/leaks.ts'
import { isAlive, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const deadMs = 1000
const count = 3

function describeAlive(processes: readonly HostProcess[]): string | undefined {
  const left = processes.filter(isAlive)
  return left.length === 0 ? undefined : left.map(({ pid, name }) => `${pid} (${name})`).join(', ')
}

/** Of exposed ports. */
function listSockets(): string[] {
  return readdirSync(tmpdir()).filter((name) => existsSync(join(tmpdir(), name, 'socket')))
}

test('nothing is alive after a second, and the next host removes the rest', async () => {
  const program = join(import.meta.dirname, '../../support/hosts/host-of-sandboxes.ts')
  const host = spawn(process.execPath, [program, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = host.pid as number
  guests.leaks.allow(pid)
  try {
    const [word] = await once(host.stdout, 'data')
    assert.equal(String(word), 'busy\n')
    const processes = listDescendants(pid)
    // Control, user and secure space with a stub each, and at least five programs with their shells.
    assert.ok(processes.length >= count * 11, String(processes.length))
    guests.leaks.noteProcesses(processes)
    const ended = once(host, 'exit')
    host.kill('SIGKILL')
    await ended
    await eventually(() => describeAlive(processes), deadMs)
    assert.equal(listSockets().length, count)
  } finally {
    host.kill('SIGKILL')
  }
  {
    await using next = createLazaret()
    await using sandbox = await next.sandbox()
    assert.equal((await sandbox.exec('echo next')).stdout, 'next\n')
  }
  assert.deepEqual([listCgroups(new RegExp(`/lazaret-\\d+-${pid}-`)), listSockets()], [[], []])
})

test('destroy() during all kinds of work ends it, and every waiting call gets an error', async () => {
  const before = new Set(listDescendants(process.pid).map(({ pid }) => pid))
  const sandbox = await guests.lazaret.sandbox()
  await sandbox.exec('(setsid sleep 300 &) ; for i in 1 2 3 4 5; do (while :; do :; done) & done')
  const flood = await sandbox.startProcess('while :; do echo flood; done')
  await flood.waitForLog('flood')
  const waiting = [
    sandbox.exec('sleep 300'),
    sandbox.exec('while :; do echo flood; done', { env: { TOKEN: 'a' } }),
    sandbox.writeFile('/workspace/large', Buffer.alloc(32 * 1024 * 1024)),
    sandbox.exec('sleep 300', { tty: { columns: 80, rows: 24 } }),
  ].map((work) =>
    work.then(
      () => 'done',
      (error: { code?: string }) => error.code,
    ),
  )
  const exit = flood.waitForExit()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const mine = listDescendants(process.pid).filter(({ pid }) => !before.has(pid))
  await sandbox.destroy()
  const left = mine.filter(({ name }) => name !== 'nursery')
  assert.equal(describeAlive(left), undefined)
  for (const end of await Promise.all(waiting))
    assert.ok(end === 'done' || end === 'SANDBOX_GONE', String(end))
  assert.equal(typeof (await exit).exitCode, 'number')
  assert.equal(flood.status, 'killed')
})
