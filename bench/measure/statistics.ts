/** Order statistics of a sample. */
import type { Figures } from '../table.ts'

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
