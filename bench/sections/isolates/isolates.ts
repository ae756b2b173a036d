/** Programs in V8 isolates: latency and programs per second, compared with the reference service. */
import { loadavg } from 'node:os'

import { CodeExecutionService } from '../../../src/adapters/code-execution/index.ts'
import { compare } from '../../measure/compare.ts'
import { benchIsolateLimits } from './isolate-limits.ts'
import type { BenchOptions } from '../../options.ts'
import { progress } from '../../progress.ts'
import { openReference } from '../../rivals/reference-service.ts'
import { alternate, sustain } from '../../measure/sustain.ts'
import type { Contestant, Sustained } from '../../measure/sustain.ts'
import { goalAtLeast, goalAtMost } from '../../table.ts'
import type { Goal, Table } from '../../table.ts'

const program = { code: 'output = input.a + 1', language: 'javascript', inputData: { a: 1 } } as const
const workers = 2
const levels = [1, 8] as const
/**
 * The pause between two turns, in which a worker ends the last isolate and creates the next, so that a warm program finds one
 * that is ready. The same for both services.
 */
const restMs = 20

interface Service {
  execute(params: typeof program): Promise<{ readonly success: boolean; readonly output?: unknown }>
  shutdown(): Promise<void>
}

export async function benchIsolates(options: BenchOptions): Promise<Table[]> {
  const { turns, seconds } = options
  await using stack = new AsyncDisposableStack()
  const ours = new CodeExecutionService({ poolSize: workers })
  stack.defer(() => ours.shutdown())
  await ours.initialize()
  const reference = await openReference(workers)
  const rivals = [contest('lazaret isolates', ours)]
  const notes: string[] = []
  if (typeof reference === 'string') notes.push(`Without the reference service: ${reference}`)
  else {
    stack.defer(() => reference.shutdown())
    rivals.push(contest('reference service', reference))
  }
  const latency = await compare({
    title: 'isolates, warm: one program',
    turns,
    settle: () => new Promise((resolve) => setTimeout(resolve, restMs)),
    rivals: rivals.map(({ name, time }) => ({ name, turn: time })),
    goals: ([own, other]) => latencyGoals(own?.figures['p50'], other?.figures['p50']),
    notes: () => notes,
  })
  const throughput = await compareThroughput(rivals, seconds)
  return [latency, throughput, await benchIsolateLimits(options)]
}

function latencyGoals(own = Number.NaN, other?: number): Goal[] {
  const goals = [goalAtMost('p50 ≤ 0.6 ms', own, 0.6)]
  if (other !== undefined) goals.push(goalAtMost('p50 ≤ 1/6 of the reference', own / other, 1 / 6))
  return goals
}

async function compareThroughput(contestants: readonly Contestant[], seconds: number): Promise<Table> {
  const measured: Sustained[] = []
  for (const inFlight of levels) {
    progress(`isolates: ${inFlight} in flight`)
    measured.push(...(await alternate(contestants, { inFlight, seconds })))
  }
  const most = (own: boolean): number =>
    Math.max(
      ...measured
        .filter(({ name }) => (name === 'lazaret isolates') === own)
        .map(({ figures }) => figures['runs/s'] ?? 0),
    )
  return {
    title: `isolates: programs per second on ${workers} workers, ${seconds} s each in alternating slices`,
    unit: '',
    load: loadavg()[0] ?? 0,
    rows: measured.map(({ name, inFlight, figures, verdict }) => ({
      name: `${inFlight} in flight: ${name}`,
      figures,
      ...(verdict === undefined ? {} : { verdict }),
    })),
    goals:
      contestants.length > 1 ? [goalAtLeast('≥ 2.2 × the reference', most(true) / most(false), 2.2)] : [],
    notes: [],
    wrong: measured.flatMap(({ wrong }) => wrong),
  }
}

function contest(name: string, service: Service): Contestant & { readonly time: () => Promise<number> } {
  const fault = async (): Promise<string | undefined> => {
    const { success, output } = await service.execute(program)
    return success && output === 2 ? undefined : `answered ${JSON.stringify(output)}`
  }
  return {
    name,
    sustain: (slice) => sustain(slice, fault),
    async time() {
      const start = performance.now()
      const wrong = await fault()
      const ms = performance.now() - start
      if (wrong !== undefined) throw new Error(`A turn of ${name} ${wrong}.`)
      return ms
    },
  }
}
