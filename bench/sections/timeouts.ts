/** Many timeouts: how long after its deadline each run ends, and how its neighbours are affected. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'

import { createLazaret } from '../../src/engine/lazaret.ts'
import type { Lazaret } from '../../src/engine/api.ts'
import { isInterrupted, own, throwIfInterrupted } from '../measure/interruption.ts'
import { judgeRows } from '../measure/judge.ts'
import type { BenchOptions } from '../options.ts'
import { sampleOtherWork } from '../measure/other-work.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Figures, Table } from '../table.ts'
import { faultOf, toolchains } from '../workloads.ts'

const limitMs = 100
/** A cell takes some 6 ms of one core, and a run waits for 100 ms: the machine is mostly idle. */
const inFlight = 8
const timeoutsMax = 1000
const timeoutsPerTurn = 20
const rounds = 8
const neighbourPauseMs = 25

/** Prints its start time, by the clock of `performance.timeOrigin`, and then sleeps for long. */
const code = 'echo $EPOCHREALTIME; exec sleep 10'

/** Milliseconds after the deadline. */
interface Overshoots {
  /** From the start time that the guest itself printed to the answer, independent of Lazaret's own measurements. */
  readonly sinceGuest: number[]
  /** From the call of `run` to its answer, including the start of the guest. */
  readonly sinceCall: number[]
  /** According to the result. */
  readonly reported: number[]
}

export async function benchTimeouts({ turns }: BenchOptions): Promise<Table[]> {
  const shell = toolchains.shell()
  if (shell === null || !shell.endsWith('/bash'))
    return [skippedTable('timeouts', 'there is no bash on this machine.')]
  await using lazaret = createLazaret({ queue: { runningMax: 1000 } })
  const count = Math.min(timeoutsMax, turns * timeoutsPerTurn)
  const overshoots: Overshoots = { sinceGuest: [], sinceCall: [], reported: [] }
  const plain: number[] = []
  const meanwhile: number[] = []
  const alone: number[] = []
  const wrong: string[] = []
  const before = await sampleOtherWork()
  for (let round = 0; round < rounds; round++) {
    throwIfInterrupted()
    progress(`timeouts: ${overshoots.reported.length} of ${count}`)
    const size = Math.floor((count * (round + 1)) / rounds) - Math.floor((count * round) / rounds)
    const start = performance.now()
    const ending = keepInFlight(size, () => timeOut(lazaret, overshoots, wrong))
    await Promise.all([ending, beNeighbour(lazaret, { times: meanwhile, wrong }, ending)])
    await beNeighbour(lazaret, { times: alone, wrong }, pause((performance.now() - start) / 2))
    await keepInFlight(Math.ceil(size / 2), async () => {
      plain.push(await timeOutPlain(shell))
    })
  }
  throwIfInterrupted()
  const otherWork = Math.max(before, await sampleOtherWork())
  const load = loadavg()[0] ?? 0
  const rows = judgeRows(
    [
      { name: 'lazaret, guest to caller', figures: withMax(overshoots.sinceGuest) },
      { name: 'Node spawn with `timeout`', figures: withMax(plain) },
    ],
    { figure: 'p50', better: 'lower', otherWork },
  )
  const timeouts: Table = {
    title: `${count} timeouts of ${limitMs} ms, ${inFlight} in flight: time after the deadline`,
    unit: 'ms',
    load,
    rows: [
      ...rows,
      { name: 'lazaret, by usage.wallMs', figures: withMax(overshoots.reported) },
      { name: 'lazaret, from the call of run', figures: withMax(overshoots.sinceCall) },
    ],
    goals: [goalAtMost('every one within 50 ms', Math.max(...overshoots.sinceGuest), 50)],
    notes: ['Below 0: the limit counts from the start of bash, the clock in it from its first command.'],
    wrong,
  }
  const neighbours: Table = {
    title: `neighbours of these timeouts: a shell run every ${neighbourPauseMs} ms`,
    unit: 'ms',
    load,
    rows: [
      { name: 'during timeouts', figures: withMax(meanwhile) },
      { name: 'without', figures: withMax(alone) },
    ],
    goals: [],
    notes: [],
    wrong: [],
  }
  return [timeouts, neighbours]
}

async function keepInFlight(count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  const keepBusy = async (): Promise<void> => {
    while (left-- > 0 && !isInterrupted()) await work()
  }
  await Promise.all(Array.from({ length: inFlight }, keepBusy))
}

async function timeOut(lazaret: Lazaret, overshoots: Overshoots, wrong: string[]): Promise<void> {
  const start = performance.now()
  const { outcome, stdout, usage } = await lazaret.run({
    language: 'shell',
    code,
    limits: { wallMs: limitMs },
  })
  const answered = performance.now()
  if (outcome.kind !== 'timed-out') {
    wrong.push(`a run that should time out ended as ${JSON.stringify(outcome)}`)
    return
  }
  overshoots.sinceGuest.push(behindDeadline(stdout, answered))
  overshoots.sinceCall.push(answered - start - limitMs)
  overshoots.reported.push(usage.wallMs - limitMs)
}

async function timeOutPlain(shell: string): Promise<number> {
  const child = spawn(shell, ['-c', code], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  own(child)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  await once(child, 'close')
  return behindDeadline(stdout, performance.now())
}

function behindDeadline(stdout: string, answered: number): number {
  return performance.timeOrigin + answered - Number(stdout) * 1000 - limitMs
}

/** Short runs with pauses between them, until `end`. */
async function beNeighbour(
  lazaret: Lazaret,
  { times, wrong }: { readonly times: number[]; readonly wrong: string[] },
  end: Promise<unknown>,
): Promise<void> {
  const state = { isOver: false }
  void end.finally(() => (state.isOver = true))
  do {
    const start = performance.now()
    const fault = faultOf(await lazaret.run({ language: 'shell', code: 'echo hi' }), 'hi')
    if (fault === undefined) times.push(performance.now() - start)
    else wrong.push(`a neighbour ${fault}`)
    await pause(neighbourPauseMs)
  } while (!state.isOver)
}

function withMax(times: readonly number[]): Figures {
  return { ...summarize(times), max: Math.max(...times) }
}
