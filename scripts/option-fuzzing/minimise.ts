/** Finds a smaller program with the same effect: removes processes, then calls, by halves, as long as the effect remains. */
import type { CallProcess, Program } from './program.ts'

export interface Minimising {
  readonly program: Program
  readonly stillMoves: (program: Program) => Promise<boolean>
  /** Each attempt is a run of a second or so. */
  readonly attemptsMax: number
}

export async function minimise({ program, stillMoves, attemptsMax }: Minimising): Promise<Program> {
  let smallest = program
  let attempts = 0
  const attempt = async (candidate: Program): Promise<boolean> => {
    if (attempts >= attemptsMax || candidate.length === 0) return false
    attempts++
    const moves = await stillMoves(candidate)
    if (moves) smallest = candidate
    return moves
  }
  for (let at = smallest.length - 1; at >= 0 && smallest.length > 1; at--)
    await attempt(smallest.toSpliced(at, 1))
  for (let at = 0; at < smallest.length; at++) {
    const count = smallest[at]?.calls.length ?? 0
    for (let size = Math.ceil(count / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0)
      for (let from = 0; from < (smallest[at]?.calls.length ?? 0);) {
        if (attempts >= attemptsMax) return smallest
        const moves = await attempt(withoutCalls(smallest, at, { from, size }))
        if (!moves) from += size
      }
  }
  return smallest
}

interface Part {
  readonly from: number
  readonly size: number
}

function withoutCalls(program: Program, at: number, { from, size }: Part): Program {
  const cut = (one: CallProcess) => ({ ...one, calls: one.calls.toSpliced(from, size) })
  return program.map((one, index) => (index === at ? cut(one) : one))
}
