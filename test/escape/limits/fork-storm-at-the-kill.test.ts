/** Processes that fork faster than they can be listed, at the moment when they are to be killed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { areInForks } from '../../support/in-forks.ts'
import { processesLimitIsMissing } from '../../support/hostile/limits-hold.ts'
import { listCells } from '../../support/machine/processes.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const skip = await processesLimitIsMissing(guests)

/** Every process forks a successor in a new session and ends, so no pid lives for long. */
const storms: Record<string, RunRequest> = {
  'moving chains': {
    ...python,
    code: `
import os, signal
for number in (1, 2, 3, 15): signal.signal(number, signal.SIG_IGN)
for _ in range(12):
    if os.fork() == 0: break
else:
    os.write(1, b'up')
    signal.pause()
while True:
    try:
        if os.fork() > 0: os._exit(0)
        os.setsid()
    except OSError: pass`,
  },
  'children that are put in the place of the dead': {
    ...shell,
    code: `trap '' TERM HUP INT; (while :; do (setsid sh -c 'sleep 1' &) ; done) & (while :; do (setsid sh -c 'sleep 1' &) ; done) & printf up; wait`,
  },
  'threads and processes together': {
    ...python,
    code: `
import os, threading
def storm():
    while True:
        try:
            if os.fork() == 0:
                threading.Thread(target=storm).start()
                storm()
        except (OSError, RuntimeError): pass
os.write(1, b'up')
for _ in range(4): threading.Thread(target=storm).start()`,
  },
}
const processesMax = 48
/** A watchdog that counts periodically may find too many processes and end them first. */
const anyRequest = areInForks ? { ...python, code: '' } : { ...shell, code: ':' }
const isWatched = (await guests.run(anyRequest)).receipt.limits.processesMax.by === 'watchdog'
const tooMany = { kind: 'limit-exceeded', limit: 'processes', allowed: processesMax }

for (const [name, request] of Object.entries(storms)) {
  test(`${name}: at the deadline all of them end`, { skip }, async () => {
    const { result } = await runPatiently(guests.run, { ...request, limits: { processesMax } })
    const { outcome, stdout } = result
    if (!isWatched || outcome.kind !== 'limit-exceeded')
      assert.deepEqual([outcome.kind, stdout.startsWith('up')], ['timed-out', true])
    else assert.deepEqual(outcome, tooMany)
    await guests.leaks.check()
  })

  test(`${name}: when the run is cancelled all of them end`, { skip }, async () => {
    const controller = new AbortController()
    const { outcome } = await guests.run({
      ...request,
      signal: controller.signal,
      limits: { processesMax, wallMs: ampleMs },
      onOutput: () => controller.abort(),
    })
    if (!isWatched || outcome.kind !== 'limit-exceeded') assert.deepEqual(outcome, { kind: 'cancelled' })
    else assert.deepEqual(outcome, tooMany)
    await guests.leaks.check()
  })

  test(`${name}: when the launcher is killed all of them end`, { skip }, async () => {
    const run = guests.run({
      ...request,
      limits: { processesMax, wallMs: ampleMs },
      onOutput: () => {
        const [cell] = listCells()
        if (cell === undefined) return
        guests.leaks.noteProcesses([cell.stub, cell.pid1])
        try {
          process.kill(cell.stub.pid, 'SIGKILL')
        } catch (error) {
          // The watchdog, or the kill after earlier output, came first.
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
        }
      },
    })
    const end = await run.catch((error: unknown) => error)
    const isTooMany = isWatched && end !== null && typeof end === 'object' && 'outcome' in end
    if (isTooMany) assert.deepEqual(end.outcome, tooMany)
    else assert.equal((end as { code?: string }).code, 'WORKER_LOST', JSON.stringify(end))
    await guests.leaks.check()
  })
}
