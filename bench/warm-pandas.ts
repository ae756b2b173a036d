/** Warm Python with pandas imported before the run. Needs an interpreter that has pandas. */
import { execFileSync } from 'node:child_process'

import { createLazaret } from '../src/engine/lazaret.ts'
import type { LazaretOptions } from '../src/engine/options.ts'
import { compare, timed } from './compare.ts'
import { LongLivedRival } from './rivals/long-lived.ts'
import { runPlain } from './rivals/plain.ts'
import { goalAtMost, skippedTable } from './table.ts'
import type { Table } from './table.ts'
import { WarmLazaret } from './warm-lazaret.ts'
import { toolchains } from './workloads.ts'

const title = 'python, warm, pandas preloaded: the sum of a series'
const code = 'import pandas\nprint(pandas.Series(range(10)).sum())'
const expected = '45'
/** The rivals import pandas in every turn, and take half a second for it. */
const turnsShare = 1 / 6

export async function benchWarmPandas(turns: number): Promise<Table> {
  const python = findPandas()
  if (python === undefined) return skippedTable(title, 'no Python here has pandas (apt: python3-pandas).')
  if (!(await hasPools())) return skippedTable(title, 'this version has no pools, and so nothing to preload.')
  const preload = ['pandas']
  const options: LazaretOptions & { readonly preload: readonly string[] } = {
    toolchains: { python },
    preload,
  }
  await using warm = new WarmLazaret({ runtime: 'python', count: 1, preload }, options)
  const command = [python, '-c', code]
  await using byPython = LongLivedRival.python('Python subprocess, no wall', python, { command, expected })
  return await compare({
    title,
    turns: Math.ceil(turns * turnsShare),
    settle: warm.settle,
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

async function hasPools(): Promise<boolean> {
  await using lazaret = createLazaret()
  return 'warmUp' in lazaret
}
