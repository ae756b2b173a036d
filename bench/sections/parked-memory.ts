/** Memory of a parked worker, by runtime: all processes of its cell, and the growth of the host process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'

import type { Realm, RunRequest } from '../../src/core/request.ts'
import { own, throwIfInterrupted } from '../measure/interruption.ts'
import { descendantsOf, memoryOf } from '../measure/process-tree.ts'
import { progress } from '../progress.ts'
import { skippedTable } from '../table.ts'
import type { Figures, Row, Table } from '../table.ts'
import { WarmLazaret } from '../warm-lazaret.ts'
import { toolchains } from '../workloads.ts'

const MiB = 1024 * 1024
const measured = ['bun', 'node', 'python', 'shell'] as const
type Measured = (typeof measured)[number]
const title = 'memory per parked worker'
/** Besides the first one, which may include memory that all others share. */
const furtherCountUsual = 8

/** Parks workers until there are `count`. */
export type Grow = (count: number) => Promise<void>

export async function benchMemory(): Promise<Table[]> {
  if (process.getuid?.() !== 0) return [skippedTable(title, 'only root may see the memory of a cell.')]
  const rows: Row[] = []
  for (const runtime of measured) {
    const waiter = planWaiter(runtime)
    if (waiter === null) continue
    progress(`memory: ${runtime}`)
    rows.push(await measureParked(runtime))
    // What the workers of `lazaret/actor` wait with.
    if (runtime === 'bun') rows.push(await measureParked(runtime, 'bare'))
    rows.push(await measurePlain(runtime, waiter))
  }
  return [
    {
      title,
      unit: 'MiB',
      load: loadavg()[0] ?? 0,
      rows,
      goals: [],
      notes: [
        `"each" is the mean of ${furtherCountUsual} more after the first. Pss of all processes of the cell, launcher included;`,
        'page tables come on top, and what else the kernel keeps for a cell (namespaces, mounts, sockets) is not in it.',
      ],
      wrong: [],
    },
  ]
}

async function measureParked(runtime: Measured, realm: Realm = 'runtime'): Promise<Row> {
  const language = runtime === 'bun' || runtime === 'node' ? 'javascript' : runtime
  await using warm = new WarmLazaret({ language, runtime, realm, count: 1 + furtherCountUsual })
  // Start the nursery, and load what a first run needs, before anything is measured.
  const another: RunRequest =
    runtime === 'shell' ? { language: 'javascript', code: '1' } : { language: 'shell', code: 'true' }
  for (let run = 0; run < 2; run++) await warm.lazaret.run(another)
  const name = realm === 'bare' ? `${warm.name}, bare realm, parked` : `${warm.name}, parked`
  return { name, figures: await measure(warm.grow) }
}

async function measurePlain(runtime: Measured, command: readonly string[]): Promise<Row> {
  const children: ReturnType<typeof spawn>[] = []
  const [file = '', ...args] = command
  try {
    const figures = await measure(async (count) => {
      while (children.length < count) {
        const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
        own(child)
        children.push(child)
        await once(child.stdout, 'data')
      }
    })
    return { name: `${runtime}, waiting, no wall`, figures }
  } finally {
    await Promise.all(
      children.map(async (child) => {
        if (child.kill('SIGKILL')) await once(child, 'exit')
      }),
    )
  }
}

/** The memory of the first worker, and of each of `furtherCount` more. */
export async function measure(grow: Grow, furtherCount = furtherCountUsual): Promise<Figures> {
  const before = look(new Set())
  const known = new Set(before.pids)
  await grow(1)
  throwIfInterrupted()
  const first = look(known)
  await grow(1 + furtherCount)
  throwIfInterrupted()
  const all = look(known)
  const each = (pick: (one: typeof all) => number): number => (pick(all) - pick(first)) / furtherCount
  return {
    first: first.pssBytes / MiB,
    each: each(({ pssBytes }) => pssBytes) / MiB,
    'page tables': each(({ pageTableBytes }) => pageTableBytes) / MiB,
    'host RSS': each(({ hostBytes }) => hostBytes) / MiB,
    processes: each(({ pids }) => pids.length),
  }
}

/** Descendants of this process that are not in `known`. */
function look(known: ReadonlySet<number>): {
  readonly pids: readonly number[]
  readonly pssBytes: number
  readonly pageTableBytes: number
  readonly hostBytes: number
} {
  const pids = descendantsOf(process.pid).filter((pid) => !known.has(pid))
  const memories = pids.flatMap((pid) => memoryOf(pid) ?? [])
  return {
    pids,
    pssBytes: memories.reduce((sum, { pssBytes }) => sum + pssBytes, 0),
    pageTableBytes: memories.reduce((sum, { pageTableBytes }) => sum + pageTableBytes, 0),
    hostBytes: process.memoryUsage.rss(),
  }
}

/** An unconfined interpreter, which reports that it has started, and waits. Null if the machine has none. */
function planWaiter(runtime: Measured): readonly string[] | null {
  switch (runtime) {
    case 'bun':
    case 'node': {
      const file = runtime === 'bun' ? toolchains.bun() : toolchains.node()
      return file === null ? null : [file, '-e', "console.log('here'); setInterval(() => {}, 1000)"]
    }
    case 'python': {
      const file = toolchains.python()?.path
      const code = "import time\nprint('here', flush=True)\ntime.sleep(600)"
      return file === undefined ? null : [file, '-c', code]
    }
    case 'shell': {
      // Its standard input is a pipe that stays open.
      const file = toolchains.shell()
      return file === null ? null : [file, '-c', 'echo here; read -r line']
    }
  }
}
