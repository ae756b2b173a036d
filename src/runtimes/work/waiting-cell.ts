/** Waits for a cell that is built ahead of its use, and for the guest in it, if any. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import { isStepFailure } from '../../jail/cell/cell-reports.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import { buildMs, tooLong } from './follow-run.ts'
import { whenAborted } from './patience.ts'
import type { WaitingGuest } from './waiting-guest.ts'

interface Patience {
  readonly clock: Clock
  /** Aborts the wait, because loading ahead may never finish. */
  readonly signal?: AbortSignal | undefined
}

/** Resolves when the cell is built and its guest is ready. If that fails, throws and leaves nothing behind. */
export async function standWaiting<Guest extends WaitingGuest | null>(
  built: BuiltCell,
  startGuest: () => Guest,
  { clock, signal }: Patience,
): Promise<Guest> {
  const late = Promise.withResolvers<never>()
  const patience = clock.after(buildMs, () => late.reject(tooLong()))
  const stop = signal && whenAborted(signal, () => late.reject(new LazaretError('DISPOSED')))
  late.promise.catch(() => undefined)
  try {
    // A parked worker must not keep the host's process alive.
    built.cell.hold(false)
    const guest = startGuest()
    await Promise.race([Promise.all([readiness(built), guest?.waiting]), late.promise])
    return guest
  } catch (error) {
    built.cell.hold(true)
    await built.clean().catch(() => undefined)
    throw error
  } finally {
    patience()
    stop?.()
  }
}

function readiness({ cell, plan }: BuiltCell): Promise<unknown> {
  return cell.ready.catch((error: unknown) => {
    throw isStepFailure(error) ? explainFailure(error, plan) : error
  })
}
