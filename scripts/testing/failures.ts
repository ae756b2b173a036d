/** What a failed test says about the product, and whether it may be tried again. */
import type { PassResults } from './results.ts'

/**
 * - `hang`: something never ended.
 * - `leak`: something was left behind.
 * - `crash`: the process that ran the tests, which is the host, died.
 * - `breach`: an attack succeeded.
 * - `lost`: Node's runner lost the reports of a process.
 * - `other`: everything else. Only these can be the fault of a busy machine.
 */
export type FailureKind = 'hang' | 'leak' | 'crash' | 'breach' | 'lost' | 'other'

/** The reason of a failure: the process was ended because nothing happened in it. */
export const wasStuck = 'the process was stuck, see above'
/** How the reason of a process begins that ended in an unexpected way. */
export const hasDied = 'the process of the tests died'

const hangs = [
  /^the process was stuck/,
  /\btest timed out after \d+/,
  /\bPromise resolution is still pending but the event loop has already resolved/,
  /\bdid not end within \d+ s\b/,
]

const leaks = [/\bleft behind\b/, /\bmore descriptors than before\b/]

/** An attack that had no time to begin has not succeeded. */
const outOfTime = [/\btimed-out\b/, /\bTIMEOUT\b/, /\btimed out\b/]

export function kindOf(failure: string, reason = ''): FailureKind {
  const says = (patterns: readonly RegExp[]) =>
    patterns.some((pattern) => pattern.test(reason) || pattern.test(failure))
  if (/Unable to deserialize cloned data/.test(reason)) return 'lost'
  if (says(hangs)) return 'hang'
  if (says(leaks)) return 'leak'
  if (reason.startsWith(hasDied)) return 'crash'
  if (failure.startsWith('test/escape/') && !says(outOfTime)) return 'breach'
  return 'other'
}

/** Whether every failure of these results may be the machine's fault. */
export function areExcusable({ failures, reasons }: Pick<PassResults, 'failures' | 'reasons'>): boolean {
  return failures.every((failure) => kindOf(failure, reasons[failure]) === 'other')
}

/** The name under which a file that did not run is reported. */
export function missing(file: string): string {
  return `${file}${missingEnding}`
}

const missingEnding = ' has not run to its end'

export function isMissing(failure: string): boolean {
  return failure.endsWith(missingEnding)
}

/** Whether a failure belongs to a file. */
export function isOf(file: string, failure: string): boolean {
  return failure.startsWith(`${file}:`) || failure === missing(file)
}
