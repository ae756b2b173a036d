/**
 * Which files of a pass run again, and the results of the pass with them. A file that failed among others must pass twice,
 * alone, on a calm machine; then the failure is reported as flaky. What no load explains is never tried again: failures.ts.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { areExcusable, isMissing, isOf, kindOf } from './failures.ts'
import type { PassResults } from './results.ts'

/** If more files than this fail, the change is the cause. A busy machine makes fewer fail. */
const failedFilesMax = (files: number): number => Math.max(3, Math.floor(files / 20))

/**
 * Node's runner reads the reports of a test process in chunks, and fails if a chunk ends within a header. Then the process
 * counts as failed, and the files that it had not started count as missing.
 */
export function lostFiles(
  files: readonly string[],
  { failures, reasons, files: seen }: PassResults,
): string[] {
  if (!failures.some((failure) => kindOf(failure, reasons[failure]) === 'lost')) return []
  const ended = new Set(seen.map(({ file }) => file))
  return files.filter((file) => !ended.has(file))
}

/** The failed files, if they are few among many and nothing but load may explain what failed. */
export function excusableFiles(files: readonly string[], results: PassResults): string[] {
  const { failures } = results
  const failed = files.filter((file) => failures.some((failure) => isOf(file, failure)))
  const isAll = failures.every(
    (failure) => isOfSupport(failure) || failed.some((file) => isOf(file, failure)),
  )
  const areFew = failed.length <= failedFilesMax(files.length) && failed.length < files.length
  return isAll && areFew && areExcusable(results) ? failed : []
}

/** The results of a pass, with those of `files` replaced by what their later run had. */
export function withSecondRun(
  first: PassResults,
  second: PassResults,
  files: readonly string[],
): PassResults {
  // A hook that the files share is reported under the support file that defines it.
  const isAgain = (name: string) => isOfSupport(name) || files.some((file) => isOf(file, name))
  const isLost = (failure: string) => kindOf(failure, first.reasons[failure]) === 'lost'
  const kept = first.files.filter(({ file }) => !files.includes(file))
  const replaced = first.files.filter(({ file }) => files.includes(file))
  // A test that did not run the second time has not passed.
  const isSkipped = (failure: string) => second.skipped.some(({ name }) => name === failure)
  const failures = first.failures.filter(
    (failure) => isSkipped(failure) || (!isAgain(failure) && !isLost(failure)),
  )
  const isHealed = (failure: string) =>
    !failures.includes(failure) && !isMissing(failure) && !second.failures.includes(failure)
  return {
    passed: first.passed - replaced.reduce((total, { passed }) => total + passed, 0) + second.passed,
    failed: first.failed - (first.failures.length - failures.length) + second.failed,
    skipped: [...first.skipped.filter(({ name }) => !isAgain(name)), ...second.skipped],
    failures: [...failures, ...second.failures],
    reasons: { ...first.reasons, ...second.reasons },
    flaky: [...new Set([...first.flaky, ...second.flaky, ...first.failures.filter(isHealed)])],
    files: [...kept, ...second.files],
    processorMs: first.processorMs + second.processorMs,
  }
}

/** The share of time, in percent, in which some process waited for a processor: `avg10` of /proc/pressure/cpu. */
const calmPercent = 20
const calmAfterMs = 60_000
const lookEveryMs = 2000

/** Waits until the machine is calm, at most a minute. Returns the pressure then. */
export async function untilCalm(): Promise<number> {
  const deadline = performance.now() + calmAfterMs
  for (;;) {
    const percent = cpuPressurePercent()
    if (percent < calmPercent || performance.now() > deadline) return percent
    await pause(lookEveryMs)
  }
}

/** 0 where the kernel does not measure it. */
function cpuPressurePercent(): number {
  try {
    return Number(/^some avg10=([\d.]+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function isOfSupport(failure: string): boolean {
  return failure.startsWith('test/support/')
}
