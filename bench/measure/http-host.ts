/**
 * The server process of the section `http`: one Lazaret, which also makes runs without HTTP. It reports what the work costs
 * this process, and how late its event loop was.
 */
import { subscribe } from 'node:diagnostics_channel'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readFileSync } from 'node:fs'

import { ApiTokens } from '../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../src/adapters/http/bearer-tokens.ts'
import { serveApi } from '../../src/adapters/http/serve-api.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openEngine } from '../../src/engine/lazaret.ts'
import type { OpenEngine } from '../../src/engine/lazaret.ts'
import { heldBytes } from '../../test/support/machine/resident-memory.ts'
import { atRate } from './at-rate.ts'
import type { Rate, RateLoad } from './at-rate.ts'
import { faultOfMixed, mixedWork } from './mixed-work.ts'

export type HostRequest =
  | { readonly kind: 'library'; readonly rate: Rate }
  | { readonly kind: 'look' }
  /** Answered with the resident bytes after a full garbage collection, because the size before it depends on V8's heuristics. */
  | { readonly kind: 'collect' }

/** Readings of this process, since the last ones. */
export interface HostFigures {
  readonly cpuMs: number
  /** The time that each run over HTTP took in the engine alone. */
  readonly engineTimes: readonly number[]
  /** The time of the same runs from the request's headers to the last byte of the reply. */
  readonly serverTimes: readonly number[]
  /** How long its main thread was ready to run but waited for a processor. */
  readonly waitedMs: number
  readonly loopDelayP99Ms: number
  readonly residentBytes: number
}

/** The histogram counts its own interval as delay. */
const resolutionMs = 1
const warn = (message: string): void => void process.stderr.write(`${message}\n`)
const [token = ''] = process.argv.slice(2)
const engine = openEngine({ onEvent: () => undefined, queue: { waitingMax: 1000 } })
const entry = { name: 'bench', hash: hashOf(token), scopes: ['run' as const], allow: [] }
const tokens = new ApiTokens({ tokens: [entry] }, { clock: systemClock, warn })
let engineTimes: number[] = []
let serverTimes: number[] = []
const timedEngine: OpenEngine = {
  ...engine,
  async runAfter(...asked) {
    const start = performance.now()
    const result = await engine.runAfter(...asked)
    engineTimes.push(performance.now() - start)
    return result
  },
}
const service = await serveApi({
  engine: timedEngine,
  version: '0',
  tokens,
  listen: { host: '127.0.0.1', port: 0 },
  hostNames: ['127.0.0.1'],
  warn,
  bounds: { runningPerTokenMax: 1000 },
})

const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()
let before = { cpuMs: cpuMs(), waitedMs: waitedMs() }

const begun = new WeakMap<object, number>()
subscribe('http.server.request.start', (message) => {
  begun.set((message as { readonly request: object }).request, performance.now())
})
subscribe('http.server.response.finish', (message) => {
  const { request } = message as { readonly request: object }
  serverTimes.push(performance.now() - (begun.get(request) ?? Number.NaN))
})

process.on('message', (request: HostRequest) => void answer(request))
process.on('disconnect', () => void end())
process.send?.(service.url)

async function answer(request: HostRequest): Promise<void> {
  switch (request.kind) {
    case 'library':
      process.send?.(await runHere(request.rate))
      return
    case 'look':
      process.send?.(look())
      return
    case 'collect':
      process.send?.(heldBytes())
  }
}

function runHere(rate: Rate): Promise<RateLoad> {
  return atRate(rate, async (number) => {
    const work = mixedWork(number)
    const result = await engine.lazaret.run(work.request)
    return () => faultOfMixed(work, result)
  })
}

function look(): HostFigures {
  const now = { cpuMs: cpuMs(), waitedMs: waitedMs() }
  const figures = {
    cpuMs: now.cpuMs - before.cpuMs,
    waitedMs: now.waitedMs - before.waitedMs,
    engineTimes,
    serverTimes,
    loopDelayP99Ms: delay.percentile(99) / 1e6 - resolutionMs,
    residentBytes: process.memoryUsage.rss(),
  }
  before = now
  engineTimes = []
  serverTimes = []
  delay.reset()
  return figures
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function waitedMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
}

async function end(): Promise<void> {
  await service[Symbol.asyncDispose]()
  await engine.lazaret[Symbol.asyncDispose]()
  tokens[Symbol.dispose]()
}
