/** Which files of a pass run a second time, and the results of the pass with them. */
import { groupEnding } from './plan/processes.ts'
import type { PlannedProcess } from './plan/processes.ts'
import { wasStuck } from './results.ts'
import type { PassResults } from './results.ts'

/** If one file in twenty or more fails, the change is the cause. A busy machine makes fewer fail. */
const failedFilesMax = (files: number): number => Math.max(3, Math.floor(files / 20))

/**
 * Node's runner reads the reports of a test process in chunks, and fails if a chunk ends within a header. Then the process
 * counts as failed ("Unable to deserialize cloned data"), and the files that it had not started count as missing.
 */
export function lostFiles(files: readonly string[], results: PassResults): string[] {
  if (!results.failures.some(isOfLostReport)) return []
  const ended = new Set(results.files.map(({ file }) => file))
  return files.filter((file) => !ended.has(file))
}

/** The files of a shared process that did not end after them. A file with its own process counts as failed itself. */
export function stuckFiles(
  processes: readonly PlannedProcess[],
  { failures, reasons }: PassResults,
): readonly string[] {
  const stuck = failures.filter((failure) => reasons[failure] === wasStuck)
  const isStuck = (name: string) => stuck.some((failure) => failure.includes(`/${name}${groupEnding}`))
  return processes.flatMap(({ group, files }) => (group !== undefined && isStuck(group.name) ? files : []))
}

/** The failed files, if they are few among many. Alone they fail again, unless the load of the others caused the failure. */
export function fewFailed(files: readonly string[], { failures }: PassResults): string[] {
  const failed = files.filter((file) => failures.some((failure) => isOf(file, failure)))
  const isAll = failures.every(
    (failure) => isOfSupport(failure) || failed.some((file) => isOf(file, failure)),
  )
  return isAll && failed.length <= failedFilesMax(files.length) && failed.length < files.length ? failed : []
}

/** The results of a pass, with the second results of `files`. */
export function withSecondRun(
  first: PassResults,
  second: PassResults,
  files: readonly string[],
): PassResults {
  // A hook that the files share is reported under the support file that defines it.
  const isAgain = (name: string) => isOfSupport(name) || files.some((file) => isOf(file, name))
  const kept = first.files.filter(({ file }) => !files.includes(file))
  const replaced = first.files.filter(({ file }) => files.includes(file))
  // A test that did not run the second time has not passed.
  const isSkipped = (failure: string) => second.skipped.some(({ name }) => name === failure)
  const failures = first.failures.filter(
    (failure) => isSkipped(failure) || (!isAgain(failure) && !isOfLostReport(failure)),
  )
  const gone = first.failures.length - failures.length
  const sum = (key: 'passed') => replaced.reduce((total, one) => total + one[key], 0)
  return {
    passed: first.passed - sum('passed') + second.passed,
    failed: first.failed - gone + second.failed,
    skipped: [...first.skipped.filter(({ name }) => !isAgain(name)), ...second.skipped],
    failures: [...failures, ...second.failures],
    reasons: { ...first.reasons, ...second.reasons },
    unsteady: [
      ...first.unsteady,
      ...second.unsteady,
      ...steadied(first, second, isAgain),
      ...first.failures.filter(isOfLostReport),
    ],
    files: [...kept, ...second.files],
    processorMs: first.processorMs + second.processorMs,
  }
}

/** Tests that failed in the pass and passed alone. */
function steadied(
  first: PassResults,
  second: PassResults,
  isAgain: (failure: string) => boolean,
): readonly string[] {
  return first.failures.filter(
    (failure) =>
      isAgain(failure) &&
      !isMissing(failure) &&
      !second.failures.includes(failure) &&
      !second.skipped.some(({ name }) => name === failure),
  )
}

/** The name under which a file that did not run is reported. */
export function missing(file: string): string {
  return `${file}${missingEnding}`
}

const missingEnding = ' has not run to its end'

export function isMissing(failure: string): boolean {
  return failure.endsWith(missingEnding)
}

function isOf(file: string, name: string): boolean {
  return name.startsWith(`${file}:`) || name === missing(file)
}

function isOfSupport(failure: string): boolean {
  return failure.startsWith('test/support/')
}

function isOfLostReport(failure: string): boolean {
  return failure.includes(groupEnding)
}
