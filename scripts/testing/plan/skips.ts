/**
 * Which tests may be skipped: those of `test/known-skips.json`, by name, with the reason that they give; and those whose optional
 * package is really missing. A suite that quietly stops running is worse than one that fails.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from '../describe-parts.ts'
import type { Level } from './levels.ts'
import { isExcused } from './optional-packages.ts'

export interface KnownSkip {
  /** The file and the title: `test/core/clock.test.ts: waits`. */
  readonly test: string
  /** How the reason begins; what follows may depend on the machine. */
  readonly reason: string
  /** Where it is skipped on the machine of CI. If it runs there, the row can go. */
  readonly levels: readonly Level[]
}

export function readKnownSkips(): readonly KnownSkip[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../test/known-skips.json'), 'utf8'),
  ) as KnownSkip[]
}

/** A line for each skip that nothing explains. */
export function unknownSkips(
  parts: readonly Part[],
  known = readKnownSkips(),
  isMissing: (reason: string) => boolean = isExcused,
): string[] {
  return parts.flatMap(({ name: pass, results }) =>
    results.skipped
      .filter(
        ({ name, reason }) =>
          !known.some((one) => one.test === name && reason.startsWith(one.reason)) && !isMissing(reason),
      )
      .map(({ name, reason }) => `${pass}: skipped, and nothing explains it: ${name} (${reason})`),
  )
}

/** A line for each known skip that ran: its row can go. */
export function neededNoMore(parts: readonly Part[], known = readKnownSkips()): string[] {
  return parts.flatMap(({ name: pass, level, files = [], results }) =>
    known
      .filter(
        ({ test, levels }) =>
          level !== undefined &&
          levels.includes(level) &&
          files.some((file) => test.startsWith(`${file}:`)) &&
          !results.skipped.some(({ name }) => name === test),
      )
      .map(({ test }) => `  ${pass}: ${test}`),
  )
}
