/** Waiting for something that may never happen. */
import { onAbort } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'

/** After a kill: how long the guests' last output may take, and then the cell's own end. Together below 50 ms. */
export const lastWordsMs = 25
export const cellEndMs = 15
/** Files can be brought back from a cell whose guests are known to have ended, which takes longer on a busy machine. */
export const lastWordsBeforeFilesMs = 500

/** Resolves with the event or after so long, whichever is first. */
export async function withPatience(event: Promise<void>, ms: number, clock: Clock): Promise<void> {
  const late = Promise.withResolvers<void>()
  // Timers come before reading: a host that was busy reads what has arrived meanwhile before it is too late.
  let cancel = clock.after(ms, () => (cancel = clock.after(0, late.resolve)))
  await Promise.race([event, late.promise])
  cancel()
}

/** Calls at once when it has been aborted already. What it returns stops listening. */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (!signal.aborted) return onAbort(signal, callback)
  callback()
  return () => undefined
}
