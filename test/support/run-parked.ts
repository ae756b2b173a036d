/** Runs that are guaranteed to get a parked worker. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'

import { bunRuntime } from '../../src/runtimes/bun/host.ts'
import type { Lazaret, RunRequest, RunResult } from '../../src/index.ts'

export type Run = (request: RunRequest) => Promise<RunResult>

/**
 * Whether a parked worker can serve it with no visible difference from a cold start: a worker that gets its variables
 * later does not show them in /proc. Bun reads some files at its start.
 */
export function canBeParked({ env, runtime, files = {} }: RunRequest): boolean {
  const areRead = Object.keys(files).some((path) => bunRuntime.startFiles?.test(path))
  return runtime === 'shell' || (env === undefined && !areRead)
}

const forkedRuntimes = ['python', 'bun', 'node']

/** Whether it got a parked worker, or a fork of a zygote if its runtime has one. */
export function isWarm({ receipt }: RunResult): boolean {
  return (
    receipt.start === 'parked' || (receipt.start === 'forked' && forkedRuntimes.includes(receipt.runtime))
  )
}

/** A run that is cancelled before it gets a worker has none. */
function neverBegan({ outcome, receipt }: RunResult): boolean {
  return outcome.kind === 'cancelled' && receipt.layers.length === 0
}

/** Gives each run its own worker, even if several are requested at the same time. */
export function runParked(lazaret: Lazaret, run: Run = (request) => lazaret.run(request)): Run {
  let turn: Promise<unknown> = Promise.resolve()
  return async (request) => {
    const start = turn.then(async () => {
      await warmUpFor(lazaret, request)
      const running = run(request)
      running.catch(() => undefined) // the caller handles it
      // Waits until it has taken its worker. Otherwise the next run would count the same worker.
      await nextTurn()
      return { running }
    })
    turn = start.catch(() => undefined)
    const result = await (await start).running
    assert.ok(isWarm(result) || neverBegan(result), `${result.receipt.start}: ${inspect(result.outcome)}`)
    return result
  }
}

/** Resolves when `count` workers that can serve this request are parked. */
export async function warmUpFor(lazaret: Lazaret, request: RunRequest, count = 1): Promise<void> {
  const { language, runtime, realm, network, limits, preload, client } = request
  await lazaret.warmUp({
    language,
    count,
    ...(realm && { realm }),
    ...(client !== undefined && { client }),
    ...(runtime && { runtime }),
    ...(network && { network }),
    ...(limits && { limits }),
    ...(preload && { preload }),
  })
}
