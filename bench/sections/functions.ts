/** Host functions: one call inside a running program by the guest's own clock, with sequential calls. */
import { loadavg } from 'node:os'

import type { RunRequest } from '../../src/core/request.ts'
import { createLazaret } from '../../src/engine/lazaret.ts'
import type { Lazaret } from '../../src/engine/api.ts'
import { throwIfInterrupted } from '../measure/interruption.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import type { Table } from '../table.ts'

const warmUpCalls = 50
const callsPerTurn = 300
/** Few turns, because each has many calls and a cold start. */
const turnsShare = 1 / 3

const javascript = `
const times = []
for (let call = -${warmUpCalls}; call < ${callsPerTurn}; call++) {
  const start = performance.now()
  await add(call, 1)
  if (call >= 0) times.push(performance.now() - start)
}
times`

const python = (add: string): string => `
from time import perf_counter
times = []
for call in range(-${warmUpCalls}, ${callsPerTurn}):
    start = perf_counter()
    ${add}
    if call >= 0:
        times.append((perf_counter() - start) * 1000)
times`

const programs: Readonly<Record<string, RunRequest>> = {
  bun: { language: 'javascript', runtime: 'bun', code: javascript },
  node: { language: 'javascript', runtime: 'node', code: javascript },
  python: { language: 'python', code: python('add(call, 1)') },
  'python, awaited': { language: 'python', code: python('await add(call, 1)') },
}

export async function benchFunctions(options: BenchOptions): Promise<Table[]> {
  const turns = Math.ceil(options.turns * turnsShare)
  await using lazaret = createLazaret()
  const names = Object.keys(programs)
  const times = new Map(names.map((name): [string, number[]] => [name, []]))
  progress('calls of host functions')
  for (let turn = 0; turn < turns; turn++) {
    for (const name of names) {
      throwIfInterrupted()
      times.get(name)?.push(...(await timeCalls(lazaret, programs[name])))
    }
  }
  const rows = names.map((name) => ({ name: `from ${name}`, figures: summarize(times.get(name) ?? []) }))
  return [
    {
      title: `one call of a host function, ${callsPerTurn} in a row (${turns} turns)`,
      unit: 'ms',
      load: loadavg()[0] ?? 0,
      rows,
      goals: [],
      notes: [],
      wrong: [],
    },
  ]
}

async function timeCalls(lazaret: Lazaret, program: RunRequest | undefined): Promise<number[]> {
  if (program === undefined) return []
  const functions = { add: (left: unknown, right: unknown) => Number(left) + Number(right) }
  const { outcome, value } = await lazaret.run({ ...program, functions })
  if (outcome.kind !== 'completed' || !Array.isArray(value))
    throw new Error(`A turn ended as ${JSON.stringify(outcome)}.`)
  return value as number[]
}
