/**
 * Work that must end at its deadline, but has to do something before it. How long that takes depends on the machine, so
 * an attempt that shows nothing is repeated with a longer deadline. Only the longest deadline is final.
 */
import type { RunRequest, RunResult } from '../../src/index.ts'

const usualDeadlinesMs = [500, 2000, 8000]

/** A wall limit for guests that end by themselves, or by another limit: only a guest that hangs reaches it. */
export const ampleMs = 180_000

export interface Patient<T> {
  readonly seen: T
  /** The deadline of this attempt. */
  readonly deadlineMs: number
}

/** The first attempt that shows what it must; otherwise the last one, so that the test can report what is wrong. */
export async function untilShown<T>(
  attempt: (deadlineMs: number) => Promise<T>,
  shows: (one: Patient<T>) => boolean,
  deadlinesMs: readonly number[] = usualDeadlinesMs,
): Promise<Patient<T>> {
  let one: Patient<T> | undefined
  for (const deadlineMs of deadlinesMs) {
    one = { seen: await attempt(deadlineMs), deadlineMs }
    if (shows(one)) break
  }
  return one as Patient<T>
}

export interface PatientRun {
  readonly result: RunResult
  readonly wallMs: number
}

/** The run must print something before its wall limit, unless `shows` sets another condition. */
export async function runPatiently(
  run: (request: RunRequest) => Promise<RunResult>,
  request: RunRequest,
  shows = ({ result }: PatientRun) => result.stdout !== '',
): Promise<PatientRun> {
  const { seen, deadlineMs } = await untilShown(
    (wallMs) => run({ ...request, limits: { ...request.limits, wallMs } }),
    // A guest that has ended before its deadline had enough time.
    ({ seen: result, deadlineMs: wallMs }) =>
      result.outcome.kind !== 'timed-out' || shows({ result, wallMs }),
  )
  return { result: seen, wallMs: deadlineMs }
}
