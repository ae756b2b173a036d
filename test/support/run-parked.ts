/** Runs that find a worker waiting for them, for certain. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'

import type { Lazaret, RunRequest, RunResult } from '../../src/index.ts'

export type Run = (request: RunRequest) => Promise<RunResult>

/**
 * Whether a worker can wait for it, and is then what a started program is to the last detail: one that got its variables
 * later has not those in /proc.
 */
export function canFindOne({ env, runtime }: RunRequest): boolean {
  return env === undefined || runtime === 'shell'
}

const forkedRuntimes = ['python', 'bun', 'node']

/** Whether it found one; some are forks of a zygote where there can be one. */
export function isWarm({ receipt }: RunResult): boolean {
  return (
    receipt.start === 'parked' || (receipt.start === 'forked' && forkedRuntimes.includes(receipt.runtime))
  )
}

/** Whoever cancels before there is a worker has none. */
function neverBegan({ outcome, receipt }: RunResult): boolean {
  return outcome.kind === 'cancelled' && receipt.layers.length === 0
}

/** A worker for each run, also where several are asked for at one moment. */
export function runParked(lazaret: Lazaret, run: Run = (request) => lazaret.run(request)): Run {
  let turn: Promise<unknown> = Promise.resolve()
  return async (request) => {
    const start = turn.then(async () => {
      await warmUpFor(lazaret, request)
      const running = run(request)
      running.catch(() => undefined) // whoever asked for it hears of it
      // Until it has taken its worker, which the next one would count on otherwise.
      await nextTurn()
      return { running }
    })
    turn = start.catch(() => undefined)
    const result = await (await start).running
    assert.ok(isWarm(result) || neverBegan(result), `${result.receipt.start}: ${inspect(result.outcome)}`)
    return result
  }
}

/** Resolves when so many workers wait that could serve this request. */
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
