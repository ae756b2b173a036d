/**
 * Sandboxes: the cost of creating one, a command in its user space, a command with credentials, and the memory of a hundred
 * idle ones.
 */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

import { createLazaret } from '../../src/index.ts'
import type { ExecOptions, Lazaret, Sandbox } from '../../src/index.ts'
import { compare, timed } from '../measure/compare.ts'
import type { BenchOptions } from '../options.ts'
import { measure } from './parked-memory.ts'
import { progress } from '../progress.ts'
import { runPlain } from '../rivals/plain.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Table } from '../table.ts'

const idleMax = 100
/** The work after a command (starting the next shell, removing a space) is done within this time. */
const settleMs = 15
const memoryTitle = `memory of an idle sandbox, of ${idleMax} at one time`

export async function benchSandboxes({ turns }: BenchOptions): Promise<Table[]> {
  await using lazaret = createLazaret({ queue: { memoryTotalBytes: 2 ** 40 } })
  return [await compareCommands(lazaret, turns), await measureMemory(lazaret)]
}

async function compareCommands(lazaret: Lazaret, turns: number): Promise<Table> {
  await using sandbox = await lazaret.sandbox()
  const made: Sandbox[] = []
  const run = (options?: ExecOptions) =>
    timed(async () => {
      const { success } = await sandbox.exec('true', options)
      if (!success) throw new Error('true has failed')
    })
  return await compare({
    title: "exec('true') in a sandbox, to its result",
    turns,
    settle: async () => {
      await Promise.all(made.splice(0).map((one) => one.destroy()))
      await pause(settleMs)
    },
    rivals: [
      { name: 'lazaret, exec', turn: run() },
      { name: 'lazaret, exec with credentials', turn: run({ env: { TOKEN: 'a' } }) },
      {
        name: 'lazaret, creation of a sandbox',
        turn: timed(async () => void made.push(await lazaret.sandbox())),
      },
      { name: 'Node spawn of /bin/true, no wall', turn: timed(() => runPlain('/bin/true', [])) },
      {
        name: "Node spawn of bash -c 'true', no wall",
        turn: timed(() => runPlain('/bin/bash', ['-c', 'true'])),
      },
    ],
    goals: ([exec, secure, creation, spawn]) => {
      const p50 = (row: typeof exec) => row?.figures['p50'] ?? Number.NaN
      return [
        goalAtMost('exec: p50 ≤ 0.7 × Node spawn of /bin/true', p50(exec) / p50(spawn), 0.7),
        goalAtMost('with credentials: p50 ≤ 5 ms', p50(secure), 5),
        goalAtMost('creation: p50 ≤ 10 ms', p50(creation), 10),
      ]
    },
  })
}

async function measureMemory(lazaret: Lazaret): Promise<Table> {
  if (process.getuid?.() !== 0) return skippedTable(memoryTitle, 'only root may see the memory of a cell.')
  progress(memoryTitle)
  const all: Sandbox[] = []
  const grow = async (count: number, isUsed: boolean) => {
    while (all.length < count) {
      const sandbox = await lazaret.sandbox()
      if (isUsed) await sandbox.exec('true')
      all.push(sandbox)
    }
  }
  const weigh = async (isUsed: boolean) => {
    const figures = await measure((count) => grow(count, isUsed), idleMax - 1)
    await Promise.all(all.splice(0).map((sandbox) => sandbox.destroy()))
    return figures
  }
  const unused = await weigh(false)
  const used = await weigh(true)
  const each = (used['each'] ?? 0) + (used['host RSS'] ?? 0)
  return {
    title: memoryTitle,
    unit: 'MiB',
    load: loadavg()[0] ?? 0,
    rows: [
      { name: 'lazaret, never used', figures: unused },
      { name: 'lazaret, used a moment ago: a shell is ready in it', figures: used },
    ],
    goals: [goalAtMost('each, with the growth of the host: ≤ 3 MiB', each, 3)],
    notes: [],
    wrong: [],
  }
}
