/** Files of a pass that run a second time, and what the pass comes to with them. */
import { groupEnding } from './plan/processes.ts'
import type { PassResults } from './results.ts'

/** More failures than this come from the change, not from a slow machine. */
const failedFilesMax = 3

/**
 * The runner of Node reads what a process of tests reports in pieces, and loses its place where a piece ends within a
 * header: then the process counts as failed, with "Unable to deserialize cloned data", and the files that it had not come
 * to as missing.
 */
export function lostFiles(files: readonly string[], results: PassResults): string[] {
  if (!results.failures.some(isOfLostReport)) return []
  const ended = new Set(results.files.map(({ file }) => file))
  return files.filter((file) => !ended.has(file))
}

/** Where a few files of many failed, these: alone, they fail again unless only the others made them slow. */
export function fewFailed(files: readonly string[], { failures }: PassResults): string[] {
  const failed = files.filter((file) => failures.some((failure) => isOf(file, failure)))
  const isAll = failures.every(
    (failure) => isOfSupport(failure) || failed.some((file) => isOf(file, failure)),
  )
  return isAll && failed.length <= failedFilesMax && failed.length < files.length ? failed : []
}

/** The results of a pass in which `files` count as they came out the second time. */
export function withSecondRun(
  first: PassResults,
  second: PassResults,
  files: readonly string[],
): PassResults {
  // A hook that they share counts as a test of the file that it stands in.
  const isAgain = (name: string) => isOfSupport(name) || files.some((file) => isOf(file, name))
  const kept = first.files.filter(({ file }) => !files.includes(file))
  const replaced = first.files.filter(({ file }) => files.includes(file))
  // What did not run the second time has not passed.
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
    unsteady: [...first.unsteady, ...second.unsteady, ...steadied(first, second, isAgain)],
    files: [...kept, ...second.files],
    processorMs: first.processorMs + second.processorMs,
  }
}

/** Tests that failed beside others and passed alone. */
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

/** What stands for a file that a process did not come to. */
export function missing(file: string): string {
  return `${file}${missingEnding}`
}

const missingEnding = ' has not run to its end'

function isMissing(failure: string): boolean {
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
