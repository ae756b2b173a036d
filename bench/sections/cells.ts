/**
 * What a cell costs: until it is ready, until a command in it has ended, until it is removed; a command in a running
 * cell; cells per second.
 */
import { loadavg } from 'node:os'

import { Machine } from '../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../src/jail/machine/uid-range.ts'
import { openCell, useCell } from './cell.ts'
import type { CellTimes } from './cell.ts'
import { compare, timed } from '../measure/compare.ts'
import type { Rival } from '../measure/compare.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { bubblewrap, bubblewrapArguments } from '../rivals/bubblewrap.ts'
import { runPlain } from '../rivals/plain.ts'
import { summarize } from '../measure/statistics.ts'
import { alternate, sustain } from '../measure/sustain.ts'
import type { Contestant } from '../measure/sustain.ts'
import { goalAtMost } from '../table.ts'
import type { Row, Table } from '../table.ts'

export async function benchCells({ turns, seconds }: BenchOptions): Promise<Table[]> {
  await using machine = new Machine({ uidRange: defaultUidRange })
  return [
    ...(await compareLatency(machine, turns)),
    await compareCommands(machine, turns),
    await compareRates(machine, seconds),
  ]
}

/** Two tables of the same turns: the time to the exit against rivals, and Lazaret's stages. */
async function compareLatency(machine: Machine, turns: number): Promise<Table[]> {
  const stages: CellTimes[] = []
  const inBubblewrap: Rival[] =
    bubblewrap === undefined ? [] : [{ name: 'bubblewrap, same mounts', turn: timed(trueInBubblewrap) }]
  const exit = await compare({
    title: '/bin/true in a fresh cell, to its exit',
    turns,
    rivals: [
      {
        name: 'lazaret cell',
        turn: async () => {
          const times = await useCell(machine)
          stages.push(times)
          return times.exit
        },
      },
      ...inBubblewrap,
      { name: 'Node spawn, no wall', turn: timed(trueWithoutWall) },
    ],
    goals: ([, ...rivals]) =>
      rivals
        .filter(({ name }) => name.startsWith('bubblewrap'))
        .map(({ verdict }) => goalAtMost('p50 ≤ 0.7 × bubblewrap', verdict?.ratio ?? Number.NaN, 0.7)),
  })
  const measured = stages.slice(-turns)
  const row = (name: string, pick: (times: CellTimes) => number) => ({
    name,
    figures: summarize(measured.map(pick)),
  })
  const rows = [
    row('until ready', ({ ready }) => ready),
    row('until /bin/true has ended', (times) => times.exit),
    row('teardown after it', (times) => times.gone - times.exit),
    row('until nothing of it is left', ({ gone }) => gone),
  ]
  const cost: Table = {
    title: `what a cell costs (the same ${turns} turns)`,
    unit: 'ms',
    load: exit.load,
    rows,
    goals: [goalAtMost('ready: p50 ≤ 5 ms', rows[0]?.figures['p50'] ?? Number.NaN, 5)],
    notes: [],
    wrong: [],
  }
  return [exit, cost]
}

/** What a command costs in a running cell: a fork of pid 1, confined like every guest, until its exit. */
async function compareCommands(machine: Machine, turns: number): Promise<Table> {
  await using cell = await openCell(machine)
  return await compare({
    title: '/bin/true in a running cell, to its exit',
    turns,
    rivals: [
      { name: 'lazaret, spawn in the cell', turn: timed(() => cell.runTrue()) },
      { name: 'Node spawn, no wall', turn: timed(trueWithoutWall) },
    ],
    goals: ([, rival]) => [goalAtMost('p50 ≤ 0.7 × Node spawn', rival?.verdict?.ratio ?? Number.NaN, 0.7)],
  })
}

async function compareRates(machine: Machine, seconds: number): Promise<Table> {
  const contestants: Contestant[] = [
    rate('lazaret cell, until nothing of it is left', () => useCell(machine)),
    ...(bubblewrap === undefined ? [] : [rate('bubblewrap, same mounts', trueInBubblewrap)]),
    rate('Node spawn, no wall', trueWithoutWall),
  ]
  const rows: Row[] = []
  const wrong: string[] = []
  for (const inFlight of [1, 8]) {
    progress(`cells per second, ${inFlight} in flight`)
    const level = await alternate(contestants, { inFlight, seconds })
    wrong.push(...level.flatMap((sustained) => sustained.wrong))
    rows.push(...level.map((row): Row => ({ ...row, name: `${inFlight} in flight: ${row.name}` })))
  }
  const load = loadavg()[0] ?? 0
  return { title: '/bin/true per second', unit: '', load, rows, goals: [], notes: [], wrong }
}

function rate(name: string, use: () => Promise<unknown>): Contestant {
  const run = async (): Promise<undefined> => {
    await use()
  }
  return { name, sustain: (slice) => sustain(slice, run) }
}

const trueInBubblewrap = () => runPlain(bubblewrap ?? '', [...bubblewrapArguments, '/bin/true'])
const trueWithoutWall = () => runPlain('/bin/true', [])
