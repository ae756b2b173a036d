/**
 * Work that must end at its deadline, and must get somewhere before it. How long that takes is the machine's affair: what
 * shows nothing is repeated with a longer deadline, and what shows nothing with the longest has failed.
 */
import type { RunRequest, RunResult } from '../../src/index.ts'

const usualDeadlinesMs = [500, 2000, 8000]

export interface Patient<T> {
  readonly seen: T
  /** The one that it ended at. */
  readonly deadlineMs: number
}

/** The first attempt that shows what it must, else the last, for the test to say what is wrong with it. */
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

/** It must print something before its wall limit, unless `shows` says what else. */
export async function runPatiently(
  run: (request: RunRequest) => Promise<RunResult>,
  request: RunRequest,
  shows = ({ result }: PatientRun) => result.stdout !== '',
): Promise<PatientRun> {
  const { seen, deadlineMs } = await untilShown(
    (wallMs) => run({ ...request, limits: { ...request.limits, wallMs } }),
    // A guest that ended before its deadline had all the time that it wanted.
    ({ seen: result, deadlineMs: wallMs }) =>
      result.outcome.kind !== 'timed-out' || shows({ result, wallMs }),
  )
  return { result: seen, wallMs: deadlineMs }
}
