/** A trivial run every quarter of a second, during those of the fuzzer. It has to start, be correct, and be quick. */
import { setTimeout as pause } from 'node:timers/promises'

import type { Lazaret } from '../../src/index.ts'

const everyMs = 250
/** On two busy cores a run of ten milliseconds has taken half a second. */
export const answerMsMax = 3000

export interface Neighbour extends AsyncDisposable {
  /** Its complaints since the last call. */
  readonly complaints: () => readonly string[]
  readonly runs: () => number
}

export function startNeighbour(lazaret: Lazaret, name: string): Neighbour {
  const end = new AbortController()
  const complaints: string[] = []
  let runs = 0
  const live = async () => {
    while (!end.signal.aborted) {
      const complaint = await tryOnce(lazaret)
      runs++
      if (complaint !== undefined) complaints.push(`${name}: ${complaint}`)
      await pause(everyMs, undefined, { signal: end.signal }).catch(() => undefined)
    }
  }
  const life = live()
  return {
    complaints: () => complaints.splice(0),
    runs: () => runs,
    async [Symbol.asyncDispose]() {
      end.abort()
      await life
    },
  }
}

/** What was wrong, or undefined. */
export async function tryOnce(lazaret: Lazaret): Promise<string | undefined> {
  const startedMs = performance.now()
  try {
    const { outcome, stdout } = await lazaret.run({
      language: 'shell',
      code: 'echo $((6 * 7)) > a; cat a',
    })
    if (outcome.kind !== 'completed' || stdout !== '42\n') return `${JSON.stringify(outcome)} and ${stdout}`
  } catch (error) {
    return (error as Error).message
  }
  const ms = performance.now() - startedMs
  return ms > answerMsMax ? `an answer after ${Math.round(ms)} ms` : undefined
}
