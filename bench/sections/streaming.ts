/** Streaming rows: from the moment a guest writes to the moment the caller's `onOutput` is called. One clock for both. */
import { loadavg } from 'node:os'

import { createLazaret } from '../../src/engine/lazaret.ts'
import type { BenchOptions } from '../options.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import type { Table } from '../table.ts'

/** CLOCK_MONOTONIC is the same for the whole machine, and `process.hrtime` reads it, too. */
const program = `import sys, time
for turn in range(int(sys.argv[1])):
    time.sleep(0.005)
    sys.stdout.write(f'{time.monotonic_ns()}\\n')
    sys.stdout.flush()`

const warmUpTurns = 3

export async function benchStreaming({ turns }: BenchOptions): Promise<Table[]> {
  progress('streaming')
  await using lazaret = createLazaret()
  const times: number[] = []
  let rest = ''
  const onOutput = ({ text }: { readonly text: string }): void => {
    const now = process.hrtime.bigint()
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) times.push(Number(now - BigInt(line)) / 1e6)
  }
  const args = [String(turns + warmUpTurns)]
  const { outcome } = await lazaret.run({
    language: 'python',
    code: program,
    args,
    onOutput,
    limits: { wallMs: 600_000 },
  })
  if (outcome.kind !== 'completed' || outcome.exitCode !== 0 || times.length !== turns + warmUpTurns)
    throw new Error(`${times.length} lines arrived, and the run ended as ${JSON.stringify(outcome)}.`)
  return [
    {
      title: `from a write in Python to onOutput (${turns} turns)`,
      unit: 'ms',
      load: loadavg()[0] ?? 0,
      rows: [{ name: 'lazaret onOutput', figures: summarize(times.slice(warmUpTurns)) }],
      goals: [],
      notes: [],
      wrong: [],
    },
  ]
}
