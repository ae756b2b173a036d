/** Programs in isolates that exhaust their memory or their time: how long until the answer, and whether the next one runs. */
import { loadavg } from 'node:os'

import { CodeExecutionService } from '../../../src/adapters/code-execution/index.ts'
import type { CodeExecutionErrorType } from '../../../src/adapters/code-execution/index.ts'
import { bombs, loops } from '../../../test/support/hostile/isolate-bombs.ts'
import { throwIfInterrupted } from '../../measure/interruption.ts'
import type { BenchOptions } from '../../options.ts'
import { progress } from '../../progress.ts'
import { summarize } from '../../measure/statistics.ts'
import { goalAtMost } from '../../table.ts'
import type { Table } from '../../table.ts'

const loopSeconds = 0.1
/** So long that only the memory limit ends a bomb. */
const bombSeconds = 60
/** So much that every loop reaches its deadline first. */
const loopMemoryMB = 512

interface Ended {
  readonly name: string
  readonly ms: number
  readonly wrong: string | undefined
}

export async function benchIsolateLimits({ turns }: BenchOptions): Promise<Table> {
  await using service = new CodeExecutionService({ poolSize: 1 })
  await service.initialize()
  progress('isolates: what exhausts memory or time')
  const ofMemory = await endAll(service, firstOf(bombs, turns), {
    type: 'MEMORY_LIMIT',
    timeoutSeconds: bombSeconds,
  })
  const ofTime = await endAll(service, firstOf(loops, turns), {
    type: 'TIMEOUT',
    timeoutSeconds: loopSeconds,
    memoryLimitMB: loopMemoryMB,
  })
  const untilAnswer = ofMemory.map(({ ms }) => ms)
  const late = ofTime.map(({ ms }) => ms - loopSeconds * 1000)
  return {
    title: `isolates: ${ofMemory.length} ways to exhaust memory, ${ofTime.length} endless programs, one worker`,
    unit: 'ms',
    load: loadavg()[0] ?? 0,
    rows: [
      {
        name: 'memory: until the answer',
        figures: { ...summarize(untilAnswer), most: Math.max(...untilAnswer) },
      },
      { name: 'time: answer after the deadline', figures: { ...summarize(late), most: Math.max(...late) } },
    ],
    goals: [
      goalAtMost('each bomb ≤ 2000 ms', Math.max(...untilAnswer), 2000),
      goalAtMost('each loop ≤ 50 ms after its deadline', Math.max(...late), 50),
    ],
    notes: [`Longest until its answer: ${slowest(ofMemory)}. Latest: ${slowest(ofTime)}.`],
    wrong: [...ofMemory, ...ofTime].flatMap(({ wrong }) => wrong ?? []),
  }
}

const slowest = (ended: readonly Ended[]): string =>
  ended.reduce((most, one) => (one.ms > most.ms ? one : most)).name

interface Limit {
  readonly type: CodeExecutionErrorType
  readonly timeoutSeconds: number
  readonly memoryLimitMB?: number
}

/** Each kind is one turn. */
const firstOf = (programs: Readonly<Record<string, string>>, turns: number): [name: string, code: string][] =>
  Object.entries(programs).slice(0, turns)

async function endAll(
  service: CodeExecutionService,
  programs: readonly [name: string, code: string][],
  { type, ...limits }: Limit,
): Promise<Ended[]> {
  const ended: Ended[] = []
  for (const [name, code] of programs) {
    throwIfInterrupted()
    // Waits for the replacement of a lost worker, so that its start is in no figure.
    const before = await service.execute({ code: 'output = 1', language: 'javascript' })
    const start = performance.now()
    const { errorType } = await service.execute({ code, language: 'javascript', ...limits })
    const ms = performance.now() - start
    const isRight = errorType === type && before.output === 1
    ended.push({
      name,
      ms,
      wrong: isRight ? undefined : `${name}: ${errorType}, before it ${JSON.stringify(before)}`,
    })
  }
  return ended
}
