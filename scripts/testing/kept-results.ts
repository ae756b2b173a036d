/** `test-results/` of the checkout: what the last run of the tests had, for `npm run test:again`, for CI and for people. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from './describe-parts.ts'
import { isOf } from './failures.ts'
import type { Level } from './plan/levels.ts'

const folder = join(import.meta.dirname, '../../test-results')
const resultsFile = join(folder, 'results.json')

interface KeptResults {
  readonly parts: readonly Part[]
}

export function forgetResults(): void {
  rmSync(folder, { recursive: true, force: true })
}

/** Keeps the JUnit report of a pass. Files that run again have a report of their own. */
export function keepReport(pass: string, report: string): void {
  if (!existsSync(report)) return
  mkdirSync(folder, { recursive: true })
  const name = pass.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()
  const paths = Array.from({ length: reportsMax }, (_, count) =>
    join(folder, `${name}${count === 0 ? '' : `-again-${count}`}.xml`),
  )
  copyFileSync(report, paths.find((path) => !existsSync(path)) ?? join(folder, `${name}.xml`))
}

/** A pass runs once, once more for lost reports, and twice for failed files. */
const reportsMax = 4

export function keepResults(parts: readonly Part[]): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(resultsFile, JSON.stringify({ parts } satisfies KeptResults))
}

/** The files that failed in the last run, at their levels. */
export function lastFailures(): Partial<Record<Level, string[]>> | undefined {
  if (!existsSync(resultsFile)) return undefined
  const { parts } = JSON.parse(readFileSync(resultsFile, 'utf8')) as KeptResults
  const failed: Partial<Record<Level, string[]>> = {}
  for (const { level, results, files = [] } of parts) {
    if (level === undefined || results.failures.length === 0) continue
    const some = files.filter((file) => results.failures.some((failure) => isOf(file, failure)))
    // A failure of no file, such as something left behind, is one of all.
    failed[level] = [...(failed[level] ?? []), ...(some.length > 0 ? some : files)]
  }
  return failed
}
