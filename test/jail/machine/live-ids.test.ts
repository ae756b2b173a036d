/** The ids of cells on the host: never root, and, if cells have separate ids, never those of another live cell. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'

import { frameType } from '../../../src/jail/launch/frames.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { sendPlan, useLauncher } from '../launch/raw-launcher.ts'
import type { RawLauncher } from '../launch/raw-launcher.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'

const cells = 4
const sleep = encodeSpawn({
  file: '/bin/sleep',
  argv: ['sleep', 'infinity'],
  env: {},
  folder: '/',
  rlimits: [],
  wallMs: 0,
  outputBytes: 0,
  watched: unwatched,
})

/** All user and group ids of a process on the host: real, effective, saved and file system ids, and the groups. */
function readIds(pid: number): number[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const lines = status.split('\n').filter((line) => /^(Uid|Gid|Groups):/.test(line))
  return lines.flatMap((line) => line.split(/\s+/).slice(1).filter(Boolean).map(Number))
}

/** The ids of all processes of a cell with a running guest, including its stub. */
async function idsOfCell(launcher: RawLauncher): Promise<Set<number>> {
  launcher.send(frameType.spawn, 1, sleep)
  assert.ok(await launcher.frame(frameType.spawned))
  const stub = Number(launcher.stub.pid)
  const processes = [stub, ...listDescendants(stub).map(({ pid }) => pid)]
  assert.equal(processes.length, 3, 'stub, pid 1 and the guest')
  return new Set(processes.flatMap(readIds))
}

describe('while cells of two hosts are alive', () => {
  let machines: readonly Machine[]
  before(() => {
    machines = [new Machine({ uidRange: defaultUidRange }), new Machine({ uidRange: defaultUidRange })]
  })
  after(() => Promise.all(machines.map((machine) => machine[Symbol.asyncDispose]())))

  it('none of them is root, and no two cells with their own ids share one', async () => {
    await using stack = new AsyncDisposableStack()
    const owners = new Map<number, number>()
    for (let index = 0; index < cells; index++) {
      const { launcher, plan, ground } = stack.use(
        await useLauncher(machines[index % machines.length] as Machine),
      )
      sendPlan(launcher, plan.records)
      const ids = await idsOfCell(launcher)
      assert.ok(!ids.has(0), `cell ${index} has the id of root`)
      if (ground.identity.kind === 'shared') continue
      for (const id of ids) {
        assert.equal(owners.get(id) ?? index, index, `${id} belongs to two live cells`)
        owners.set(id, index)
      }
    }
  })
})
