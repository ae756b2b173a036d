/** What a person would miss otherwise, whether of a run or of a command: one line each, or none. */
import { isAtLeast, type Protection } from '../../core/protection.ts'
import type { RunResult } from '../../core/result.ts'
import { toSingleLine } from './terminal-text.ts'

export function describeTruncated(truncated: readonly string[]): string[] {
  return truncated.length === 0 ? [] : [`cut short at its limit: ${truncated.join(', ')}.`]
}

export function describeClamped(clamped: readonly string[]): string[] {
  return clamped.length === 0 ? [] : [`lowered to the configured ceiling: ${clamped.join(', ')}.`]
}

/** Whoever names a level to run at expects a weaker wall than usual. */
export function describeLevel(level: Protection, isLevelNamed: boolean): string[] {
  if (isLevelNamed || level === 'wasm' || isAtLeast(level, 'standard')) return []
  return [`warning: protection was only ${level}; \`lazaret doctor\` says how to raise it.`]
}

/** A pattern with a slip in it brings nothing, without being wrong. */
export function describeUnmatched(
  collect: readonly string[] | undefined,
  { files, truncated }: Pick<RunResult, 'files' | 'truncated'>,
): string[] {
  if (collect === undefined || Object.keys(files).length > 0 || truncated.includes('files')) return []
  return [`nothing matched --collect ${toSingleLine(collect.join(', '))}.`]
}
