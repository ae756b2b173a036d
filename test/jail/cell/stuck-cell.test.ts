/** A launcher or a pid 1 that does not react any more, as if it were stopped or stuck in the kernel. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { TestContext } from 'node:test'

import { Cell } from '../../../src/jail/cell/cell.ts'
import { spawnLauncher } from '../../../src/jail/launch/launcher.ts'
import { encodePlan } from '../../../src/jail/plan/plan-records.ts'
import { ChannelCell } from '../../support/channel-cell.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { listDescendants } from '../../support/machine/processes.ts'

const minuteMs = 60_000

/** Whatever waits for less than a minute has waited long enough. */
function passAMinute({ mock }: TestContext, act: () => void): void {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    act()
    mock.timers.tick(minuteMs)
  } finally {
    mock.timers.reset()
  }
}

describe('what waits for a process that no longer reacts', () => {
  const leaks = new LeakCheck()
  beforeEach(() => leaks.takeBaseline())
  afterEach(() => leaks.checkDisposed())

  it('a cell whose launcher is stuck is not ready in time, and ends', async (t) => {
    const before = new Set(listDescendants(process.pid).map(({ pid }) => pid))
    const cell = new Cell(spawnLauncher(false))
    const [launcher] = listDescendants(process.pid).filter(({ pid }) => !before.has(pid))
    assert.ok(launcher)
    process.kill(launcher.pid, 'SIGSTOP')
    passAMinute(t, () => cell.sendPlan(encodePlan([])))
    await assert.rejects(cell.ready, { code: 'CELL_FAILED', message: /not ready after/ })
    await cell.gone
  })

  it('a process that a stuck pid 1 does not start has failed', async (t) => {
    await using one = await ChannelCell.open()
    const { pid1 } = one.built.cell
    assert.ok(pid1 !== undefined)
    process.kill(pid1, 'SIGSTOP')
    let guest: ReturnType<ChannelCell['spawn']> | undefined
    passAMinute(t, () => (guest = one.spawn('')))
    await assert.rejects(guest?.spawned ?? Promise.resolve(), /start the process in time/)
  })

  for (const kill of ['kill', 'killTree'] as const)
    it(`a cell ends if its pid 1 does not report the end of a process after ${kill}()`, async (t) => {
      await using one = await ChannelCell.open()
      const { cell } = one.built
      const guest = one.spawn('import time; time.sleep(600)', { adopts: true })
      await guest.spawned
      assert.ok(cell.pid1 !== undefined)
      process.kill(cell.pid1, 'SIGSTOP')
      passAMinute(t, () => cell[kill](guest.id))
      await assert.rejects(guest.exited, /lost/)
      await cell.gone
    })

  it('a process that has started and is not killed may run for any time', async (t) => {
    await using one = await ChannelCell.open()
    t.mock.timers.enable({ apis: ['setInterval'] })
    const guest = one.spawn('channel.recv(1)')
    await guest.spawned
    t.mock.timers.tick(minuteMs)
    guest.channel.end('x')
    assert.deepEqual((await guest.exited).end, { by: 'exit', exitCode: 0 })
  })
})
