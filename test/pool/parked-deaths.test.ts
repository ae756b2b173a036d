/** Parked workers that die before a run arrives. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { LazaretEvent } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { findProcess, listCells } from '../support/machine/processes.ts'
import {
  isServedWarm,
  parkedRuntimes,
  parkingMs,
  waitForParked,
  withLazaret,
} from '../support/parked-workers.ts'
import { warmUpFor } from '../support/run-parked.ts'
import { shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {} })
const { lazaret } = guests
const ok = { kind: 'completed', exitCode: 0 }

describe('a parked worker that dies', () => {
  for (const guest of parkedRuntimes) {
    for (const what of ['its program', 'its cell'] as const) {
      test(`${guest.runtime}: is replaced where ${what} was killed, and no run notices`, async () => {
        const request = { ...guest, code: '' }
        await warmUpFor(lazaret, request)
        const [cell] = listCells()
        const victim = (what === 'its program' ? cell?.guests[0] : undefined) ?? cell?.pid1
        assert.ok(victim !== undefined)
        process.kill(victim.pid, 'SIGKILL')
        // An empty cell that the host has not heard of could have run what it was sent; a program tells.
        if (guest === shell)
          await eventually(
            () => (lazaret.stats().pools[0]?.lost === 1 ? undefined : 'not heard of'),
            parkingMs,
          )
        else while (findProcess(victim.pid) !== undefined) continue
        assert.deepEqual((await guests.run(request)).outcome, ok)
        await waitForParked(lazaret.stats().pools[0]?.wanted ?? -1, lazaret)
        assert.equal(await isServedWarm(request, lazaret), true)
      })
    }
  }

  test('counts as lost if no run arrived in the meantime', async () => {
    const events: LazaretEvent[] = []
    const pools = { node: { forks: false } }
    await withLazaret({ pools, onEvent: (event) => events.push(event) }, async (own) => {
      await own.warmUp({ language: 'javascript', runtime: 'node' })
      const [cell] = listCells()
      assert.ok(cell?.guests[0] !== undefined)
      process.kill(cell.guests[0].pid, 'SIGKILL')
      const stats = () => own.stats().pools[0]
      await eventually(() => (stats()?.lost === 1 ? undefined : JSON.stringify(stats())), parkingMs)
      await waitForParked(1, own)
      assert.equal(stats()?.failures, 0)
      assert.deepEqual(
        events
          .map(({ type }) => type)
          .filter((type) => !/^work-|^protection-lowered$|^leftovers-removed$/.test(type)),
        ['pool-failing'],
      )
    })
  })
})
