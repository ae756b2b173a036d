/** Runs random programs in forks. Each must be a fork, and end with its one right answer well before its deadline. */
import { isDeepStrictEqual } from 'node:util'

import { createLazaret } from '../../src/index.ts'
import type { RunResult, WarmUpRequest } from '../../src/index.ts'
import { noPools } from '../../test/support/use-lazaret.ts'
import { ForkPackages } from './fork-packages.ts'
import { generateCase } from './generate.ts'
import type { ForkCase, ForkEngine } from './generate.ts'

export interface ForkFuzzPlan {
  readonly engine: ForkEngine
  /** How many forks. Runs that start cold, because others have taken all forks, do not count. */
  readonly runs: number
  readonly inFlight: number
  readonly seed: number
  /** The first case of the seed. Default 0. */
  readonly from?: number
  /** Only this case of the seed. */
  readonly only?: number
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

export interface ForkFinding {
  /** The number of the case. */
  readonly index: number
  readonly what: string
  readonly program: string
}

export interface ForkFuzzReport {
  readonly engine: ForkEngine
  readonly seed: number
  readonly seconds: number
  readonly starts: Readonly<Record<string, number>>
  /** Of the longest run, whose processor time tells a hang from a busy machine. */
  readonly longest: { readonly index: number; readonly wallMs: number; readonly cpuMs: number }
  readonly findings: readonly ForkFinding[]
}

/** A run that waited so long for something had a reason other than a busy machine if it got so much less processor time. */
const waited = { wallMs: 20_000, wallPerCpu: 100 }
/** One cause makes many findings. */
const findingsMax = 20
const reportEveryMs = 30_000

export async function fuzzForks(plan: ForkFuzzPlan): Promise<ForkFuzzReport> {
  const { engine, runs, inFlight, seed, from = 0, only, signal, say } = plan
  using packages = new ForkPackages()
  const findings: ForkFinding[] = []
  const starts: Record<string, number> = {}
  let [next, longest, saidMs] = [only ?? from, { index: -1, wallMs: 0, cpuMs: 0 }, performance.now()]
  await using lazaret = createLazaret({
    access: { preload: true },
    packages: { node: packages.folder, python: [packages.folder] },
    pools: { ...noPools, [engine]: {} },
    onEvent: (event) => {
      if (event.type === 'zygote-failing')
        findings.push({ index: -1, what: `${event.type}: ${event.reason}`, program: '' })
    },
  })
  const startedMs = performance.now()
  const isOver = (): boolean =>
    signal.aborted ||
    findings.length >= findingsMax ||
    (starts['forked'] ?? 0) >= (only === undefined ? runs : 1)

  async function takeTurns(): Promise<void> {
    while (!isOver()) {
      const index = only ?? next++
      const one = generateCase(engine, seed, index)
      const { runtime, language, preload } = one.request
      await lazaret.warmUp({ runtime, language, preload, count: inFlight } as WarmUpRequest)
      const result = await lazaret.run(one.request)
      const { start } = result.receipt
      const { wallMs, cpuMs } = result.usage
      starts[start] = (starts[start] ?? 0) + 1
      const what = judge(one, result)
      if (what !== undefined) {
        findings.push({ index, what, program: one.program })
        say(`case ${index}: ${what}`)
      }
      if (wallMs > longest.wallMs) longest = { index, wallMs, cpuMs }
      if (performance.now() - saidMs < reportEveryMs) continue
      saidMs = performance.now()
      say(`${starts['forked'] ?? 0} forks, ${findings.length} findings`)
    }
  }
  await Promise.all(Array.from({ length: only === undefined ? inFlight : 1 }, takeTurns))
  return { engine, seed, seconds: (performance.now() - startedMs) / 1000, starts, longest, findings }
}

/** What is wrong. */
export function judge({ outcome, value }: ForkCase, result: RunResult): string | undefined {
  const { start } = result.receipt
  const { wallMs, cpuMs } = result.usage
  if (start === 'parked') return 'it was not forked'
  const isRight =
    isDeepStrictEqual(result.outcome, outcome) && isDeepStrictEqual(result.value, value ?? result.value)
  const hasWaited = wallMs > waited.wallMs && wallMs > cpuMs * waited.wallPerCpu
  if (isRight && !hasWaited) return undefined
  const seen = `${JSON.stringify(result.outcome)} ${JSON.stringify(result.value)} ${result.stderr.slice(-500)}`
  const expected = `${JSON.stringify(outcome)} ${JSON.stringify(value)}`
  return `${start}, ${Math.round(cpuMs)} ms of processor time in ${Math.round(wallMs)} ms: ${seen} instead of ${expected}`
}
