/** Order statistics of a sample, and when two samples may be told apart. */
import type { Figures, Verdict } from './table.ts'

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Milliseconds. `±` is half the distance between the quartiles: below this a difference means nothing. */
export function summarize(times: readonly number[]): Figures {
  const spread = (quantile(times, 0.75) - quantile(times, 0.25)) / 2
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99), '±': spread }
}

/** Half the distance between the extremes: for samples too few to have quartiles. */
export function halfRange(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2
}

/** Compares one figure of two rows, and calls no winner when either row's spread is larger than the difference. */
export function judge(
  ours: Figures,
  rival: Figures,
  { figure, better }: { readonly figure: string; readonly better: 'lower' | 'higher' },
): Verdict {
  const [mine = Number.NaN, theirs = Number.NaN] = [ours[figure], rival[figure]]
  const ratio = mine / theirs
  const spread = Math.max(ours['±'] ?? 0, rival['±'] ?? 0)
  if (!(Math.abs(mine - theirs) > spread)) return { ratio, winner: null }
  return { ratio, winner: mine < theirs === (better === 'lower') ? 'lazaret' : 'rival' }
}
