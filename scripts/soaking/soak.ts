/**
 * A soak in this process: many runs of all kinds at one time, and a check of what they leave behind. `npm run soak` is
 * the long form, test-deep/soak.test.ts the short one.
 */
import { createLazaret } from '../../src/index.ts'
import type { Lazaret, Protection, RunRequest, RunResult } from '../../src/index.ts'
import { listOwnNames } from '../../test/support/machine/abstract-names.ts'
import { eventually } from '../../test/support/eventually.ts'
import { measureLoop } from '../../test/support/machine/loop-delay.ts'
import type { LoopDelay } from '../../test/support/machine/loop-delay.ts'
import { LeakCheck } from '../../test/support/machine/leaks.ts'
import { takenBlocks } from '../../test/support/machine/taken-blocks.ts'
import { describeMachine } from './case.ts'
import type { Kind } from './case.ts'
import { dealCases } from './deck.ts'
import { openGreeter } from './greeter.ts'
import type { Greeter } from './greeter.ts'
import { Growth } from './growth.ts'
import { coldOptions, drain, unboundedOptions } from './pools.ts'
import { runMix } from './run-mix.ts'
import type { CaseEnd } from './run-mix.ts'
import { Tally } from './tally.ts'
import type { Latencies } from './tally.ts'

export interface SoakPlan {
  readonly runs: number
  /** Runs that are not counted. */
  readonly warmUpRuns?: number
  readonly inFlight: number
  readonly seed: number
  /** Whether every run gets a new cell. */
  readonly cold: boolean
  /** Default: those of a soak. */
  readonly kinds?: readonly Kind[]
  readonly signal?: AbortSignal
  readonly onProgress?: (tally: Tally) => void
}

export interface SoakReport {
  readonly level: Protection
  readonly seed: number
  /** Runs of the warm-up are not counted, but have to be right, too. */
  readonly runs: number
  readonly runsPerSecond: number
  readonly seconds: number
  readonly wrong: number
  /** The first wrong answers, and whatever was left behind. */
  readonly problems: readonly string[]
  /** Growth of the host process, from the third quarter of the runs to the last. */
  readonly residentGrowthBytes: number
  readonly latencies: readonly Latencies[]
  /** How long after their wall limit programs were ended. */
  readonly lateness: Latencies
  /** How long this process's event loop was blocked. */
  readonly loop: Pick<LoopDelay, 'maxMs' | 'mostMs'>
}

/** They create what is created once: compiled code, pools of buffers, a nursery. */
const usualWarmUpRuns = 400
export const residentGrowthBytesMax = 20 * 1024 * 1024
/** From the third quarter of the runs to the last. */
const quarterGrowthBytesMax = residentGrowthBytesMax / 4
/** Ids that hardly anybody else uses, so a block that is still taken belongs to this soak. Only root has such ids. */
export const uidRange = { first: 2_110_000_128 + (process.pid % 1024) * 1024, count: 1024 }
const patienceMs = 10_000

export async function soak(plan: SoakPlan): Promise<SoakReport> {
  const leaks = new LeakCheck()
  await using greeter = await openGreeter()
  const lazaret = createLazaret({ uidRange, ...unboundedOptions, ...(plan.cold ? coldOptions() : {}) })
  try {
    return await soakOne(plan, { lazaret, leaks, greeter })
  } finally {
    await lazaret[Symbol.asyncDispose]()
  }
}

interface Vessel {
  readonly lazaret: Lazaret
  readonly leaks: LeakCheck
  readonly greeter: Greeter
}

async function soakOne(plan: SoakPlan, { lazaret, leaks, greeter }: Vessel): Promise<SoakReport> {
  const { seed, inFlight, warmUpRuns = usualWarmUpRuns, signal = new AbortController().signal } = plan
  const run = async (request: RunRequest): Promise<RunResult> => {
    const result = await lazaret.run(request)
    leaks.noteNamespace(result.receipt.observed['ns_pid'])
    return result
  }
  const first = await stand({ lazaret, leaks, run })
  const machine = describeMachine(first, greeter)
  const cases = dealCases({ seed, machine, kinds: plan.kinds })
  const mix = async (runs: number, tally: Tally, growth?: Growth) => {
    const timer = setInterval(() => plan.onProgress?.(tally), 1000)
    const { delay } = await measureLoop((except) => {
      const onEnd = (end: CaseEnd) => {
        tally.add(end)
        // Excluded, because it collects all garbage.
        if (growth !== undefined) except(() => growth.look(tally.runs))
      }
      return runMix({ cases, runs, inFlight, run, signal, onEnd })
    })
    clearInterval(timer)
    tally.stop()
    await drain(lazaret)
    return { maxMs: delay.maxMs, mostMs: delay.mostMs }
  }
  const warmUp = new Tally()
  await mix(warmUpRuns, warmUp)
  const tally = new Tally()
  const growth = new Growth(plan.runs)
  const loop = await mix(plan.runs, tally, growth)
  const residentGrowthBytes = growth.bytes
  const { seconds } = tally
  const left = await listLeft({ lazaret, leaks })
  if (residentGrowthBytes > quarterGrowthBytesMax)
    left.push(
      `the host grew by ${Math.round(residentGrowthBytes / 1024 / 1024)} MiB in a quarter of the runs`,
    )
  return {
    level: first.receipt.protection,
    seed,
    runs: tally.runs,
    runsPerSecond: Math.round((tally.runs / seconds) * 10) / 10,
    seconds: Math.round(seconds * 10) / 10,
    wrong: warmUp.wrong + tally.wrong,
    problems: [...warmUp.shown, ...tally.shown, ...left],
    residentGrowthBytes,
    latencies: tally.latencies(),
    lateness: tally.lateness(),
    loop,
  }
}

/** Creates everything that lives as long as the Lazaret, before the baseline is taken. */
async function stand({
  lazaret,
  leaks,
  run,
}: Pick<Vessel, 'lazaret' | 'leaks'> & {
  readonly run: (request: RunRequest) => Promise<RunResult>
}): Promise<RunResult> {
  // The second cell starts the nursery.
  await run({ language: 'shell', code: ':' })
  const result = await run({ language: 'shell', code: ':' })
  await drain(lazaret)
  await leaks.allowNursery()
  await leaks.takeBaseline()
  return result
}

/** Checks when all runs have ended, and again when the Lazaret has ended. */
async function listLeft({ lazaret, leaks }: Pick<Vessel, 'lazaret' | 'leaks'>): Promise<string[]> {
  const left: string[] = []
  const look = async (when: string, check: () => Promise<void>) => {
    await check().catch((error: unknown) => left.push(`${when}: ${(error as Error).message}`))
  }
  await look('after the runs', () => leaks.check())
  await lazaret[Symbol.asyncDispose]()
  await look('after disposal', () => leaks.checkDisposed())
  const names = () => [...listOwnNames(), ...takenBlocks(uidRange)].join(', ') || undefined
  await look('after disposal, abstract sockets', () => eventually(names, patienceMs))
  return left
}
