/** An agent's executions: the time of each phase, and of everything besides the run itself. */
import { loadavg } from 'node:os'

import { createAgentExecutor } from '../../src/adapters/agent/agent-executor.ts'
import { phaseNames } from '../../src/adapters/agent/agent-types.ts'
import type { AgentExecutor, AgentExecution, PhaseName } from '../../src/adapters/agent/agent-types.ts'
import type { ValidationMode } from '../../src/core/validation.ts'
import { throwIfInterrupted } from '../measure/interruption.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import { goalAtMost } from '../table.ts'
import type { Figures, Goal, Row, Table } from '../table.ts'
import { WarmLazaret } from '../warm-lazaret.ts'

/** 200 lines, similar to a model's, with known output. */
const functionsOfProgram = 40
const oneFunction = (at: number): string => `
def average_${at}(rows, scale=${at}):
    chosen = [row["value"] * scale for row in rows if row.get("value") is not None]
    total = sum(chosen)
    return {"mean": total / max(len(chosen), 1), "text": f"{total:.2f}", "rows": chosen[:3]}
`
const python = `${Array.from({ length: functionsOfProgram }, (_, at) => oneFunction(at)).join('')}
print(average_1([{"value": 6}, {"value": 8}])["mean"])`
const expected = '7.0'

/** Milliseconds. */
interface Turn {
  readonly phases: Readonly<Record<PhaseName, number>>
  readonly totalMs: number
}

const modes = { off: 2, enforce: 12 } as const satisfies Partial<Record<ValidationMode, number>>
type Mode = keyof typeof modes
const modeNames = Object.keys(modes) as Mode[]
/** Enough turns that p99 is not the maximum. */
const turnsMin = 100

export async function benchAgent(options: BenchOptions): Promise<Table[]> {
  const turns = options.turns < defaultTurns ? options.turns : Math.max(options.turns, turnsMin)
  await using warm = new WarmLazaret({ runtime: 'python', language: 'python', count: 4 })
  const executors = new Map(modeNames.map((mode) => [mode, createExecutor(warm, mode)]))
  const taken = new Map(modeNames.map((mode): [Mode, Turn[]] => [mode, []]))
  const plain: number[] = []
  progress('executions of agents')
  try {
    await Promise.all([...executors.values()].map((executor) => executor.warmUp()))
    for (let turn = -warmUpTurns; turn < turns; turn++) {
      throwIfInterrupted()
      await warm.settle()
      const ms = await warm.time({ language: 'python', code: python }, expected)
      if (turn >= 0) plain.push(ms)
      for (const [mode, executor] of executors) {
        await warm.settle()
        const one = await timeOne(executor)
        if (turn >= 0) taken.get(mode)?.push(one)
      }
    }
  } finally {
    await Promise.all([...executors.values()].map((executor) => executor[Symbol.asyncDispose]()))
  }
  const tables = modeNames.map((mode) => describe(mode, taken.get(mode) ?? [], plain))
  return tables.map((table) => ({ ...table, notes: warm.notes() }))
}

const defaultTurns = 60
const warmUpTurns = 5

function createExecutor({ lazaret }: WarmLazaret, mode: Mode): AgentExecutor {
  // The same limits as for the plain run, and no rate limit.
  return createAgentExecutor(lazaret, { validation: { mode }, rate: false, canFork: true, openFilesMax: 256 })
}

async function timeOne(executor: AgentExecutor): Promise<Turn> {
  const asked: AgentExecution = { code: python, language: 'python' }
  const startMs = performance.now()
  const { output, error, metadata } = await executor.execute(asked)
  const totalMs = performance.now() - startMs
  if (output.trim() !== expected) throw new Error(`An execution printed ${output}, error ${error}.`)
  return { phases: metadata.phases_ms, totalMs }
}

function describe(mode: Mode, taken: readonly Turn[], plain: readonly number[]): Table {
  const besides = taken.map(({ totalMs, phases }) => totalMs - phases.run)
  const all: readonly [string, readonly number[]][] = [
    ['lazaret.run() alone', plain],
    ...phaseNames.map((name): [string, number[]] => [name, taken.map(({ phases }) => phases[name])]),
    ['execute()', taken.map(({ totalMs }) => totalMs)],
    ['execute() besides the run', besides],
  ]
  return {
    title: `an agent's execution of 200 lines of Python, validation ${mode} (${taken.length} turns)`,
    unit: 'ms',
    load: loadavg()[0] ?? 0,
    rows: all.map(([name, times]): Row => ({ name, figures: withMean(times) })),
    goals: [goalOf(mode, besides)],
    notes: [],
    wrong: [],
  }
}

function goalOf(mode: Mode, besides: readonly number[]): Goal {
  const { p95 = Number.NaN } = summarize(besides)
  return goalAtMost(`validation ${mode}: p95 besides the run at most ${modes[mode]} ms`, p95, modes[mode])
}

function withMean(times: readonly number[]): Figures {
  return { mean: times.reduce((sum, ms) => sum + ms, 0) / times.length, ...summarize(times) }
}
