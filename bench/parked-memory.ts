/** Memory of a parked worker by runtime: all processes of its cell, and what the host's own process grew by. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'

import { own, throwIfInterrupted } from './interruption.ts'
import { descendantsOf, memoryOf } from './process-tree.ts'
import { progress } from './progress.ts'
import { skippedTable } from './table.ts'
import type { Figures, Row, Table } from './table.ts'
import { toolchains } from './workloads.ts'
import { hasPools, WarmLazaret } from './warm-lazaret.ts'
import type { RunRequest, RuntimeName } from '../src/core/request.ts'

const MiB = 1024 * 1024
const title = 'memory per parked worker'
/** Beside the first, which may bring along what all others share. */
const furtherCount = 8

/** A program that says that it stands, and waits. */
interface Waiter {
  readonly request: RunRequest
  readonly command: readonly string[]
}

/** Brings the number that stand waiting up to `count`. */
type Grow = (count: number) => Promise<void>

export async function benchMemory(): Promise<Table[]> {
  if (process.getuid?.() !== 0) return [skippedTable(title, 'only root may see the memory of a cell.')]
  const rows: Row[] = []
  for (const runtime of ['bun', 'node', 'python', 'shell'] as const) {
    const waiter = planWaiter(runtime)
    if (waiter === null) continue
    progress(`memory: ${runtime}`)
    rows.push(await measureParked(runtime, waiter), await measurePlain(runtime, waiter))
  }
  return [
    {
      title,
      unit: 'MiB',
      load: loadavg()[0] ?? 0,
      rows,
      goals: [],
      notes: [
        `"each" is the mean of ${furtherCount} more after the first. Pss of all processes of the cell, launcher included;`,
        'page tables come on top, and what else the kernel keeps for a cell (namespaces, mounts, sockets) is not in it.',
      ],
      wrong: [],
    },
  ]
}

async function measureParked(runtime: RuntimeName, waiter: Waiter): Promise<Row> {
  await using warm = new WarmLazaret({ language: waiter.request.language, runtime, count: 1 + furtherCount })
  // The nursery, and what a first run loads into this process, are there before anything is counted.
  const another: RunRequest =
    runtime === 'shell' ? { language: 'javascript', code: '1' } : { language: 'shell', code: 'true' }
  for (let run = 0; run < 2; run++) await warm.lazaret.run(another)
  if (hasPools) return { name: `${warm.name}, parked`, figures: await measure(warm.grow) }
  using waiting = new WaitingRuns(warm, waiter.request)
  return { name: `lazaret ${runtime}, in a run (no pools yet)`, figures: await measure(waiting.grow) }
}

async function measurePlain(runtime: RuntimeName, { command }: Waiter): Promise<Row> {
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

async function measure(grow: Grow): Promise<Figures> {
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

/** Descendants of this process, without those known. */
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

/** Stands in for parked workers where there are no pools: runs that have begun and wait. */
class WaitingRuns implements Disposable {
  readonly #warm: WarmLazaret
  readonly #request: RunRequest
  readonly #end = new AbortController()
  #count = 0

  constructor(warm: WarmLazaret, request: RunRequest) {
    this.#warm = warm
    this.#request = request
  }

  grow: Grow = async (count) => {
    while (this.#count < count) {
      const begun = Promise.withResolvers<void>()
      const onOutput = () => begun.resolve()
      const run = this.#warm.lazaret.run({ ...this.#request, signal: this.#end.signal, onOutput })
      run.then(() => begun.reject(new Error('A run that should wait has ended.')), begun.reject)
      await begun.promise
      this.#count++
    }
  };

  [Symbol.dispose](): void {
    this.#end.abort()
  }
}

function planWaiter(runtime: RuntimeName): Waiter | null {
  const javascript = (language: 'bun' | 'node', file: string | null): Waiter | null => {
    const code = "console.log('here'); await new Promise(() => setInterval(() => {}, 1000))"
    const plain = "console.log('here'); setInterval(() => {}, 1000)"
    return file === null
      ? null
      : { request: { language: 'javascript', runtime: language, code }, command: [file, '-e', plain] }
  }
  switch (runtime) {
    case 'bun':
      return javascript('bun', toolchains.bun())
    case 'node':
      return javascript('node', toolchains.node())
    case 'python': {
      const code = "import time\nprint('here', flush=True)\ntime.sleep(60)"
      const file = toolchains.python()?.path
      return file === undefined
        ? null
        : { request: { language: 'python', code }, command: [file, '-c', code] }
    }
    case 'shell': {
      // A bash that only sleeps would become `sleep`.
      const code = 'echo here; read -t 60 <> <(:); :'
      const file = toolchains.shell()
      return file === null ? null : { request: { language: 'shell', code }, command: [file, '-c', code] }
    }
  }
}
