/** Bounded waiting for events that may never happen. */
import { onAbort } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'

/** After a kill: how long the guests' last output may take, and then the end of the cell. The sum is below 50 ms. */
export const lastOutputMs = 25
export const cellEndMs = 15
/** Files can be collected only if the guests are known to have ended, which takes longer on a busy machine. */
export const lastOutputBeforeFilesMs = 500

/** Resolves with the event or after `ms`, whichever is first. */
export async function withPatience(event: Promise<void>, ms: number, clock: Clock): Promise<void> {
  const late = Promise.withResolvers<void>()
  // The loop runs timers before it reads. The second timer lets a busy host read what has already arrived.
  let cancel = clock.after(ms, () => (cancel = clock.after(0, late.resolve)))
  await Promise.race([event, late.promise])
  cancel()
}

/** Calls back when the signal is aborted, at once if it already is. Returns a function that stops listening. */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (!signal.aborted) return onAbort(signal, callback)
  callback()
  return () => undefined
}
