/** Warm rows: a run on a parked worker, against an unjailed start of the same interpreter. */
import type { BenchOptions } from '../options.ts'
import { compare, timed } from '../measure/compare.ts'
import type { Rival } from '../measure/compare.ts'
import { LongLivedRival } from '../rivals/long-lived.ts'
import { runPlain } from '../rivals/plain.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Figures, Goal, Row, Table } from '../table.ts'
import { benchWarmPandas } from './warm-pandas.ts'
import { WarmLazaret } from '../warm-lazaret.ts'
import { toolchains, Workloads } from '../workloads.ts'
import type { Workload } from '../workloads.ts'

export async function benchWarm({ turns }: BenchOptions): Promise<Table[]> {
  using workloads = new Workloads()
  return [
    await compareJavaScript(workloads.bun(), turns),
    await compareJavaScript(workloads.node(), turns),
    await comparePython(workloads.python(), turns),
    await benchWarmPandas(turns),
    await compareTrue(turns),
  ]
}

async function compareJavaScript(workload: Workload, turns: number): Promise<Table> {
  const { runtime, command, request, expected } = workload
  const title = `${runtime}, warm: a trivial program`
  if (command === null) return skippedTable(title, `there is no ${runtime} on this machine.`)
  await using warm = new WarmLazaret({ language: 'javascript', runtime, count: 1 })
  const [file, ...args] = command
  const bun = toolchains.bun()
  await using byBun =
    bun === null
      ? undefined
      : LongLivedRival.bun(`Bun.spawn of ${runtime}, no wall`, bun, { command, expected })
  return await compare({
    title,
    turns,
    settle: warm.settle,
    notes: warm.notes,
    rivals: [
      { name: warm.name, turn: () => warm.time(request, expected) },
      { name: `Node spawn of ${runtime}, no wall`, turn: timed(() => runPlain(file, args)) },
      ...(byBun === undefined ? [] : [byBun]),
    ],
    goals: ([ours]) => [goalAtMost('p50 ≤ 1.5 ms', figure(ours, 'p50'), 1.5)],
  })
}

async function comparePython({ command, request, expected }: Workload, turns: number): Promise<Table> {
  const title = 'python, warm: a trivial program'
  if (command === null) return skippedTable(title, 'there is no Python on this machine.')
  await using warm = new WarmLazaret({ language: 'python', runtime: 'python', count: 1 })
  const [file, ...args] = command
  await using byPython = LongLivedRival.python('Python subprocess, no wall', file, { command, expected })
  return await compare({
    title,
    turns,
    settle: warm.settle,
    notes: warm.notes,
    rivals: [
      { name: warm.name, turn: () => warm.time(request, expected) },
      { name: 'Node spawn of python3 -c, no wall', turn: timed(() => runPlain(file, args)) },
      byPython,
    ],
    goals: ([ours, plain]) => [
      goalAtMost('p50 ≤ 2.5 ms', figure(ours, 'p50'), 2.5),
      goalAtMost('p95 ≤ 8 ms', figure(ours, 'p95'), 8),
      goalAtMost('p50 below that of python3 -c', figure(ours, 'p50'), figure(plain, 'p50')),
    ],
  })
}

/** The smallest command, in a running cell. */
async function compareTrue(turns: number): Promise<Table> {
  await using warm = new WarmLazaret({ language: 'shell', runtime: 'shell', count: 1 })
  const shell = toolchains.shell()
  const sameShell: Rival[] =
    shell === null
      ? []
      : [{ name: 'Node spawn of bash -c true', turn: timed(() => runPlain(shell, ['-c', 'true'])) }]
  return await compare({
    title: 'shell, warm: `true` in a parked cell',
    turns,
    settle: warm.settle,
    notes: warm.notes,
    rivals: [
      { name: warm.name, turn: () => warm.time({ language: 'shell', code: 'true' }, '') },
      { name: 'Node spawn of /bin/true', turn: timed(() => runPlain('/bin/true', [])) },
      ...sameShell,
    ],
    goals: (rows): Goal[] => [
      goalAtMost('p50 ≤ 0.7 × Node spawn of /bin/true', rows[1]?.verdict?.ratio ?? Number.NaN, 0.7),
    ],
  })
}

function figure(row: Row | undefined, name: keyof Figures): number {
  return row?.figures[name] ?? Number.NaN
}
