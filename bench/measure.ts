/** Side-by-side measurement: rivals take turns in one process, so that what else the machine does hits all alike. */
import { loadavg } from 'node:os'

export interface Rival {
  readonly name: string
  /** One turn. Returns the milliseconds that count. */
  readonly turn: () => Promise<number>
}

export interface Row {
  readonly name: string
  readonly p50: number
  readonly p95: number
  /** Half the distance between the quartiles: below this a difference means nothing. */
  readonly spread: number
}

export interface Comparison {
  readonly title: string
  readonly turns: number
  readonly load: number
  /** The first is ours. */
  readonly rows: readonly Row[]
}

const warmUpTurns = 3

export async function compare(title: string, turns: number, rivals: readonly Rival[]): Promise<Comparison> {
  const times = rivals.map((): number[] => [])
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    for (const [index, rival] of rivals.entries()) {
      const ms = await rival.turn()
      if (turn >= 0) times[index]?.push(ms)
    }
  }
  return {
    title,
    turns,
    load: loadavg()[0] ?? 0,
    rows: rivals.map(({ name }, index) => summarize(name, times[index] ?? [])),
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

export function summarize(name: string, times: readonly number[]): Row {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { name, p50: at(0.5), p95: at(0.95), spread: (at(0.75) - at(0.25)) / 2 }
}

/** Ours against a rival, or why no winner is called. */
export function verdict(ours: Row, rival: Row): string {
  const ratio = `× ${(ours.p50 / rival.p50).toFixed(2)}`
  const isClear = Math.abs(ours.p50 - rival.p50) > Math.max(ours.spread, rival.spread)
  return isClear ? ratio : `${ratio} (within the spread)`
}
