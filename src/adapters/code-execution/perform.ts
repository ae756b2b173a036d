/**
 * Runs one program of the service in an engine's isolates. Its wait for a worker is bounded, and every outcome is a result.
 */
import type { OpenEngine } from '../../engine/lazaret.ts'
import { readParams } from './read-params.ts'
import type { ReadParams } from './read-params.ts'
import type { CodeExecutionParams, CodeExecutionResult } from './types.ts'
import { explainThrown, shuttingDown, writeRefusal, writeResult } from './write-result.ts'

/** How long a program may wait for a worker in addition to its own time. */
const queueMs = 5000

/** Runs it in the isolates of a shared engine. Never rejects. */
export async function executeIn(
  engine: OpenEngine,
  params: CodeExecutionParams,
): Promise<CodeExecutionResult> {
  const asked = readParams(params)
  return typeof asked === 'string' ? writeRefusal(asked) : performIn(engine, asked)
}

/** Never rejects. */
export async function performIn(engine: OpenEngine, asked: ReadParams): Promise<CodeExecutionResult> {
  const late = new AbortController()
  const { signal } = asked.handles
  const stopWaiting = engine.clock.after(asked.timeoutSeconds * 1000 + queueMs, () => late.abort())
  const handles = {
    ...asked.handles,
    signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
  }
  try {
    const turn = { mode: 'service', onBegun: stopWaiting } as const
    const settled = await engine.runIsolate(asked.spec, handles, turn)
    if (settled.result.outcome.kind === 'cancelled' && signal?.aborted !== true)
      return late.signal.aborted
        ? writeResult({ ...settled, result: { ...settled.result, outcome: lateOutcome(asked) } }, asked)
        : writeRefusal(shuttingDown, asked)
    return writeResult(settled, asked)
  } catch (error) {
    return writeRefusal(explainThrown(error, engine.isolates.waiting), asked)
  } finally {
    stopWaiting()
  }
}

/** The program waited for a worker longer than allowed. */
const lateOutcome = ({ timeoutSeconds }: ReadParams) =>
  ({ kind: 'timed-out', limit: 'wall', limitMs: timeoutSeconds * 1000 }) as const
