/** Runs in spaces of one cell: one takes all that it can of what the kernel counts for the cell's owner. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { runParked } from '../../support/run-parked.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {} })
const run = runParked(guests.lazaret, guests.run)
const skip =
  (guests.level !== 'strong' || !guests.heldByCgroup) && 'guests with one id, or without a cgroup, share them'

const take = `
import ctypes
libc, taken = ctypes.CDLL(None), 0
while libc.inotify_init1(0) >= 0: taken += 1
print(taken, flush=True)`
const hold = `${take}\nimport time\ntime.sleep(60)`
const inShell = (code: string): RunRequest => ({ ...shell, code: `python3 - <<'PYTHON'\n${code}\nPYTHON` })
const kinds: Readonly<Record<string, (code: string) => RunRequest>> = {
  'shell runs': inShell,
  forks: (code) => ({ ...python, code }),
}

for (const [what, request] of Object.entries(kinds))
  test(
    `${what}: as many instances of inotify are left for one as there would be alone`,
    { skip },
    async () => {
      const alone = await run(request(take))
      const stop = new AbortController()
      const holding = Promise.withResolvers<void>()
      const holders = Array.from({ length: 4 }, () =>
        run({ ...request(hold), signal: stop.signal, onOutput: () => holding.resolve() }),
      )
      await holding.promise
      const beside = await run(request(take))
      stop.abort()
      const users = [beside, ...(await Promise.all(holders))].map(
        ({ receipt }) => receipt.observed?.['ns_user'],
      )
      assert.equal(new Set(users).size, 1, 'one cell')
      assert.equal(beside.stdout, alone.stdout, beside.stderr)
      assert.ok(Number(beside.stdout) > 0)
    },
  )
