/** One of the launcher's two processes dies during a run: the host notices at once, and no process of the cell survives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LazaretError } from '../../../src/index.ts'
import type { RunRequest } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { isAlive, listCells } from '../../support/machine/processes.ts'
import type { HostCell, HostProcess } from '../../support/machine/processes.ts'
import { runPatiently } from '../../support/patient-run.ts'
import type { PatientRun } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Guests that are hard to end: children, a daemon, a pipe that others keep open. */
const stubborn = `trap '' TERM HUP; for i in 1 2 3; do sleep 60 & done; (setsid sh -c 'trap "" TERM; sleep 60' &); echo up; sleep 60`

async function strike(request: RunRequest, hit: (cell: HostCell) => void) {
  const up = Promise.withResolvers<void>()
  // The process killed before may still exist.
  const others = new Set(listCells().map(({ stub }) => stub.pid))
  const run = guests.run({ ...request, onOutput: () => up.resolve() })
  run.catch(() => undefined)
  const early = await Promise.race([up.promise, run])
  if (early !== undefined) return early
  const cell = listCells().find(({ stub }) => !others.has(stub.pid))
  // Its deadline came first.
  if (cell === undefined || cell.guests.length === 0) return run
  guests.leaks.noteProcesses([cell.stub, cell.pid1, ...cell.guests])
  hit(cell)
  return run
}

const victims: Record<string, (cell: HostCell) => number> = {
  stub: ({ stub }) => stub.pid,
  'pid 1': ({ pid1 }) => pid1.pid,
}

for (const [name, choose] of Object.entries(victims)) {
  for (const request of [
    { ...shell, code: stubborn },
    {
      ...python,
      code: 'import os, time\nfor _ in range(4): os.fork()\nprint("up", flush=True)\ntime.sleep(60)',
    },
  ]) {
    test(`${request.runtime}: SIGKILL of the ${name} is the fault WORKER_LOST, and ends everything in the cell`, async () => {
      const run = strike(request, (cell) => process.kill(choose(cell), 'SIGKILL'))
      await assert.rejects(run, (error) => error instanceof LazaretError && error.code === 'WORKER_LOST')
      await guests.leaks.check()
    })
  }
}

test('SIGKILL of the stub ends everything in the cell, though pid 1 is stopped', async () => {
  const run = strike({ ...shell, code: stubborn }, ({ stub, pid1 }) => {
    process.kill(pid1.pid, 'SIGSTOP')
    process.kill(stub.pid, 'SIGKILL')
  })
  await assert.rejects(run, { code: 'WORKER_LOST' })
  await guests.leaks.check()
})

test('SIGKILL of a pid 1 whose stub is stopped leaves no file, and no identifiable process', async () => {
  let left: readonly HostProcess[] = []
  const attack = (request: RunRequest) =>
    strike(request, (cell) => {
      left = cell.guests
      process.kill(cell.stub.pid, 'SIGSTOP')
      process.kill(cell.pid1.pid, 'SIGKILL')
    })
  const { result } = await runPatiently(attack, { ...shell, code: stubborn }, () => left.length > 0)
  // The stub that would report the death of pid 1 is stopped, so the host notices at the deadline.
  assert.deepEqual([result.outcome.kind, left.length > 0], ['timed-out', true])
  if (guests.level === 'restricted' && process.geteuid?.() !== 0) {
    // Without a pid namespace and a separate uid the guests survive, but only after two kills.
    assert.ok(left.some(isAlive))
    guests.leaks.forgetProcesses()
    await eventually(() => guests.leaks.describeLeft(), 20_000)
    for (const { pid } of left.filter(isAlive)) process.kill(pid, 'SIGKILL')
    guests.leaks.noteProcesses(left)
  }
  await guests.leaks.check()
})

test('a guest that dies of SIGKILL from outside is killed, not lost', async () => {
  const { outcome } = await strike({ ...shell, code: 'echo up; exec sleep 60' }, ({ guests: [guest] }) =>
    process.kill(guest?.pid as number, 'SIGKILL'),
  )
  assert.deepEqual(outcome, { kind: 'killed', signal: 'SIGKILL' })
})

for (const [name, choose] of Object.entries(victims)) {
  test(`with a stopped ${name} the wall limit is answered on time and the cell still ends`, async () => {
    let strikes = 0
    const attack = (one: RunRequest) =>
      strike(one, (cell) => {
        strikes++
        process.kill(choose(cell), 'SIGSTOP')
      })
    const isOnTime = (one: PatientRun) => one.result.usage.wallMs < one.wallMs + 300
    const { result, wallMs } = await runPatiently(
      attack,
      { ...shell, code: stubborn },
      (one) => strikes > 0 && isOnTime(one),
    )
    assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
    assert.ok(strikes > 0 && isOnTime({ result, wallMs }), `it took ${result.usage.wallMs} ms`)
    await guests.leaks.check()
  })
}

test('the death of a launcher does not affect another run', async () => {
  const start = async (code: string) => {
    const up = Promise.withResolvers<void>()
    const before = new Set(listCells().map(({ stub }) => stub.pid))
    const run = guests.run({ ...shell, code: `echo up; ${code}`, onOutput: () => up.resolve() })
    run.catch(() => undefined)
    await up.promise
    const cell = listCells().find(({ stub }) => !before.has(stub.pid))
    assert.ok(cell !== undefined)
    return { run, cell }
  }
  const other = await start('sleep 0.5; echo fine')
  const lost = await start('exec sleep 61')
  process.kill(lost.cell.stub.pid, 'SIGKILL')
  await assert.rejects(lost.run, { code: 'WORKER_LOST' })
  assert.equal((await other.run).stdout, 'up\nfine\n')
})
