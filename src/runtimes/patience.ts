/** Waiting for what may not come. */
import type { Clock } from '../core/clock.ts'

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
  if (signal.aborted) callback()
  else signal.addEventListener('abort', callback, { once: true })
  return () => signal.removeEventListener('abort', callback)
}
