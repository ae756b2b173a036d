/** The verdict of a comparison: who wins, or why there is no winner. */
import { otherWorkMax } from './other-work.ts'
import type { Figures, Row, Verdict } from '../table.ts'

export interface Measure {
  readonly figure: string
  readonly better: 'lower' | 'higher'
  /** The share of the machine that other work used, from 0 to 1. */
  readonly otherWork: number
}

/** Compares every row with the first, which is Lazaret's. */
export function judgeRows(rows: readonly Row[], measure: Measure): Row[] {
  const [ours] = rows
  return rows.map((row) =>
    ours === undefined || row === ours ? row : { ...row, verdict: judge(ours.figures, row.figures, measure) },
  )
}

export function judge(ours: Figures, rival: Figures, { figure, better, otherWork }: Measure): Verdict {
  const [mine = Number.NaN, theirs = Number.NaN] = [ours[figure], rival[figure]]
  const ratio = mine >= 0 && theirs > 0 ? mine / theirs : null
  const spread = Math.max(ours['±'] ?? 0, rival['±'] ?? 0)
  if (!(Math.abs(mine - theirs) > spread)) return { ratio, winner: null, reason: 'within the spread' }
  if (otherWork > otherWorkMax)
    return { ratio, winner: null, reason: `other work took ${(otherWork * 100).toFixed(0)} % of the machine` }
  return { ratio, winner: mine < theirs === (better === 'lower') ? 'lazaret' : 'rival' }
}
