/** Warm Python with pandas imported before the run. Needs an interpreter with pandas. */
import { execFileSync } from 'node:child_process'

import { compare, timed } from '../measure/compare.ts'
import { LongLivedRival } from '../rivals/long-lived.ts'
import { runPlain } from '../rivals/plain.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Table } from '../table.ts'
import { WarmLazaret } from '../warm-lazaret.ts'
import { toolchains } from '../workloads.ts'

const title = 'python, warm, pandas preloaded: the sum of a series'
const code = 'import pandas\nprint(pandas.Series(range(10)).sum())'
const expected = '45'
/** Few turns, because the rivals import pandas in each, which takes half a second. */
const turnsShare = 1 / 6

export async function benchWarmPandas(turns: number): Promise<Table> {
  const python = findPandas()
  if (python === undefined) return skippedTable(title, 'no Python here has pandas (apt: python3-pandas).')
  const parking = { language: 'python', runtime: 'python', count: 1, preload: ['pandas'] } as const
  await using warm = new WarmLazaret(parking, { python })
  const command = [python, '-c', code]
  await using byPython = LongLivedRival.python('Python subprocess, no wall', python, { command, expected })
  return await compare({
    title,
    turns: Math.ceil(turns * turnsShare),
    settle: warm.settle,
    notes: warm.notes,
    rivals: [
      { name: warm.name, turn: () => warm.time({ language: 'python', code }, expected) },
      { name: 'Node spawn of python3 -c, no wall', turn: timed(() => runPlain(python, ['-c', code])) },
      byPython,
    ],
    goals: ([ours]) => [goalAtMost('p50 ≤ 4 ms', ours?.figures['p50'] ?? Number.NaN, 4)],
  })
}

function findPandas(): string | undefined {
  return [toolchains.python()?.path, '/usr/bin/python3'].find((file) => {
    if (file === undefined) return false
    try {
      execFileSync(file, ['-c', 'import pandas'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}
