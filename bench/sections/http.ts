/**
 * Mixed runs at one rate, from two hundred keep-alive clients and from the server's own process, slices of both in
 * turn. What HTTP adds is compared with the engine's own time for the same runs, because the clients are one more
 * process, which takes processor time from guests.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { getPriority, loadavg, setPriority } from 'node:os'

import { toResult } from '../../src/adapters/client/remote-run.ts'
import { writeRun } from '../../src/adapters/client/write-request.ts'
import type { ResultDocument } from '../../src/core/result.ts'
import { atRate } from '../measure/at-rate.ts'
import type { Rate, RateLoad } from '../measure/at-rate.ts'
import type { HostFigures, HostRequest } from '../measure/http-host.ts'
import { KeepAliveClient } from '../measure/keep-alive-client.ts'
import { faultOfMixed, mixedWork } from '../measure/mixed-work.ts'
import { quantile } from '../measure/statistics.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { goalAtMost } from '../table.ts'
import type { Figures, Table } from '../table.ts'

const clientCount = 200
/** A rate that a server with two processors can sustain. */
const perSecond = 40
/** Pairs of slices. */
const rounds = 6
/**
 * The clients are one process on the machine that they load. It gets a higher priority than guests if permitted, so
 * that its own wait for a processor is not measured. The server is started before, with the usual priority.
 */
const clientPriority = -10
const token = 'bench-0123456789abcdef'
const MiB = 1024 * 1024

const sides = ['library', 'http'] as const
type Side = (typeof sides)[number]

export async function benchHttp(options: BenchOptions): Promise<Table[]> {
  progress('http')
  await using host = await startHost()
  const priority = getPriority()
  try {
    setOwnPriority(clientPriority)
    return await measure(host, options)
  } finally {
    setOwnPriority(priority)
  }
}

async function measure(host: Host, { seconds }: BenchOptions): Promise<Table[]> {
  const opening = Array.from({ length: clientCount }, () => KeepAliveClient.open(host.url))
  const clients = await Promise.all(opening)
  const run: Readonly<Record<Side, (rate: Rate) => Promise<RateLoad>>> = {
    library: (rate) => host.ask<RateLoad>({ kind: 'library', rate }),
    http: (rate) => sendAtRate(rate, clients),
  }
  const slices: Record<Side, Slice[]> = { library: [], http: [] }
  const rate = { perSecond, ms: (seconds * 1000) / 2 }
  // Each client sends its first request, and workers are parked from the second run of a kind on.
  for (const side of sides) await run[side]({ perSecond, ms: (clientCount / perSecond) * 1000 })
  const held: number[] = []
  for (let round = 0; round < rounds; round++) {
    // By now its pools have reached their final size.
    if (round === rounds / 2) held.push(await host.ask<number>({ kind: 'collect' }))
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      await host.ask<HostFigures>({ kind: 'look' })
      const load = await run[side](rate)
      slices[side].push({ ...load, ...(await host.ask<HostFigures>({ kind: 'look' })) })
    }
  }
  held.push(await host.ask<number>({ kind: 'collect' }))
  for (const client of clients) client[Symbol.dispose]()
  return [toTable(slices, ((held[1] ?? 0) - (held[0] ?? 0)) / MiB)]
}

type Slice = RateLoad & HostFigures

function toTable({ library, http }: Readonly<Record<Side, readonly Slice[]>>, growthMiB: number): Table {
  const figures = { library: figuresOf(library), http: figuresOf(http) }
  const engine = timesOf(http.flatMap(({ engineTimes }) => engineTimes))
  const server = timesOf(http.flatMap(({ serverTimes }) => serverTimes))
  const added = (figure: string): number => (figures.http[figure] ?? 0) - (engine[figure] ?? 0)
  const addedCpu = (figures.http['cpu/run'] ?? 0) - (figures.library['cpu/run'] ?? 0)
  return {
    title: `${clientCount} keep-alive clients, ${perSecond} mixed runs per second`,
    unit: 'ms',
    load: loadavg()[0] ?? 0,
    rows: [
      { name: 'library alone', figures: figures.library },
      { name: 'engine, of http', figures: engine },
      { name: 'server, of http', figures: server },
      { name: 'http', figures: figures.http },
    ],
    goals: [
      goalAtMost(
        'p99 of the server ≤ the engine’s own + 2 ms',
        (server['p99'] ?? 0) - (engine['p99'] ?? 0),
        2,
      ),
      goalAtMost(
        'p99 of a client ≤ the library’s own + 2 ms',
        (figures.http['p99'] ?? 0) - (figures.library['p99'] ?? 0),
        2,
      ),
      goalAtMost('p99 of a client ≤ the engine’s, of the same runs, + 2 ms', added('p99'), 2),
      goalAtMost('event loop delay p99 ≤ 20 ms', figures.http['loop p99'] ?? 0, 20),
      goalAtMost('the server holds ≤ 16 MiB more at the end than in the middle', growthMiB, 16),
    ],
    notes: [
      `HTTP adds ${addedCpu.toFixed(2)} ms of processor time of the server to a run, and ${added('p50').toFixed(2)} ms at p50`,
    ],
    wrong: [...library, ...http].flatMap(({ wrong }) => wrong),
  }
}

function figuresOf(slices: readonly Slice[]): Figures {
  const median = (figure: (slice: Slice) => number): number => quantile(slices.map(figure), 0.5)
  return {
    ...timesOf(slices.flatMap(({ times }) => times)),
    'cpu/run': median(({ cpuMs, times }) => cpuMs / times.length),
    'waited/run': median(({ waitedMs, times }) => waitedMs / times.length),
    'loop p99': median(({ loopDelayP99Ms }) => loopDelayP99Ms),
    MiB: median(({ residentBytes }) => residentBytes / MiB),
  }
}

function timesOf(times: readonly number[]): Figures {
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99) }
}

function setOwnPriority(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    // Only root may raise a priority.
  }
}

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

function sendAtRate(rate: Rate, clients: readonly KeepAliveClient[]): Promise<RateLoad> {
  return atRate(rate, async (number) => {
    const work = mixedWork(number)
    const body = writeRun(work.request)
    const reply = await clients[number % clients.length]?.ask('POST /v1/run', headers, body)
    return () =>
      reply?.status === 200
        ? faultOfMixed(work, toResult(JSON.parse(reply.body) as ResultDocument, {}))
        : `${reply?.status}: ${reply?.body.slice(0, 200)}`
  })
}

interface Host extends AsyncDisposable {
  readonly url: string
  ask<Answer>(request: HostRequest): Promise<Answer>
}

async function startHost(): Promise<Host> {
  const child = fork(new URL('../measure/http-host.ts', import.meta.url), [token])
  const [url] = (await nextMessage(child)) as [string]
  return {
    url,
    async ask<Answer>(request: HostRequest) {
      const answered = nextMessage(child)
      child.send(request)
      const [answer] = await answered
      return answer as Answer
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown[]> {
  const ended = new AbortController()
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`The server's process ended with ${code}.`)
  })
  exit.catch(() => undefined)
  try {
    return await Promise.race([once(child, 'message', { signal: ended.signal }), exit])
  } finally {
    ended.abort()
  }
}
