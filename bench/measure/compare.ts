/** Latency side by side: rivals take turns in one process, so that other work on the machine affects all alike. */
import { loadavg } from 'node:os'

import { throwIfInterrupted } from './interruption.ts'
import { judgeRows } from './judge.ts'
import { progress } from '../progress.ts'
import { sampleOtherWork } from './other-work.ts'
import { summarize } from './statistics.ts'
import type { Goal, Row, Table } from '../table.ts'

export interface Rival {
  readonly name: string
  /** One turn. Returns the milliseconds that count. */
  readonly turn: () => Promise<number>
}

export interface Race {
  readonly title: string
  readonly turns: number
  /** The first is Lazaret. */
  readonly rivals: readonly Rival[]
  /** Called before every turn, and not timed: waits until Lazaret has no work in the background. */
  readonly settle?: () => Promise<void>
  readonly goals?: (rows: readonly Row[]) => Goal[]
  /** Called at the end. */
  readonly notes?: () => readonly string[]
}

const warmUpTurnsMax = 3

export async function compare({ title, turns, rivals, settle, goals, notes }: Race): Promise<Table> {
  progress(title)
  await settle?.()
  const before = await sampleOtherWork()
  const times = rivals.map((): number[] => [])
  const warmUpTurns = Math.min(warmUpTurnsMax, turns)
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    for (let place = 0; place < rivals.length; place++) {
      // Each round begins with another rival, so that nobody always follows the same one.
      const index = (place + turn + warmUpTurns) % rivals.length
      throwIfInterrupted()
      await settle?.()
      const ms = await rivals[index]?.turn()
      if (turn >= 0 && ms !== undefined) times[index]?.push(ms)
    }
  }
  await settle?.()
  const otherWork = Math.max(before, await sampleOtherWork())
  const rows = judgeRows(
    rivals.map(({ name }, index) => ({ name, figures: summarize(times[index] ?? []) })),
    { figure: 'p50', better: 'lower', otherWork },
  )
  return {
    title: `${title} (${turns} turns)`,
    unit: 'ms',
    load: loadavg()[0] ?? 0,
    rows,
    goals: goals?.(rows) ?? [],
    notes: notes?.() ?? [],
    wrong: [],
  }
}

/** Times an action as a whole. */
export function timed(action: () => Promise<unknown>): () => Promise<number> {
  return async () => {
    const start = performance.now()
    await action()
    return performance.now() - start
  }
}
