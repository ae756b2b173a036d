/**
 * The process of a server for the section `http`: one Lazaret, behind HTTP and for itself. It tells what the work costs this
 * process, and how late its event loop was.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readFileSync } from 'node:fs'

import { ApiTokens } from '../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../src/adapters/http/bearer-tokens.ts'
import { serveApi } from '../../src/adapters/http/serve-api.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openEngine } from '../../src/engine/lazaret.ts'
import { atRate } from './at-rate.ts'
import type { Rate, RateLoad } from './at-rate.ts'
import { faultOfMixed, mixedWork } from './mixed-work.ts'

export type HostRequest = { readonly kind: 'library'; readonly rate: Rate } | { readonly kind: 'look' }

/** Of this process, since the last look. */
export interface HostFigures {
  readonly cpuMs: number
  /** How long its main thread was ready to run and had no processor: others' work. */
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
const service = await serveApi({
  engine,
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

process.on('message', (request: HostRequest) => void answer(request))
process.on('disconnect', () => void end())
process.send?.(service.url)

async function answer(request: HostRequest): Promise<void> {
  process.send?.(request.kind === 'look' ? look() : await runHere(request.rate))
}

function runHere(rate: Rate): Promise<RateLoad> {
  return atRate(rate, async (number) => {
    const work = mixedWork(number)
    return faultOfMixed(work, await engine.lazaret.run(work.request))
  })
}

function look(): HostFigures {
  const now = { cpuMs: cpuMs(), waitedMs: waitedMs() }
  const figures = {
    cpuMs: now.cpuMs - before.cpuMs,
    waitedMs: now.waitedMs - before.waitedMs,
    loopDelayP99Ms: delay.percentile(99) / 1e6 - resolutionMs,
    residentBytes: process.memoryUsage.rss(),
  }
  before = now
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
