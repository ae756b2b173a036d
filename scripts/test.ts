/**
 * Runs the tests of this checkout: `npm test -- --help`. What runs is planned in testing/plan; the last line is the total.
 */
import { describeParts } from './testing/describe-parts.ts'
import type { Part } from './testing/describe-parts.ts'
import { forgetResults, keepResults, lastFailures } from './testing/kept-results.ts'
import { findChange } from './testing/plan/changes.ts'
import type { Change } from './testing/plan/changes.ts'
import { findFiles, planPasses } from './testing/plan/passes.ts'
import type { Pass, Run } from './testing/plan/passes.ts'
import { neededNoMore, unknownSkips } from './testing/plan/skips.ts'
import { mergeTimings, readTimings, writeTimings } from './testing/plan/timings.ts'
import { problemsOf, readQuarantine, withQuarantine } from './testing/quarantine.ts'
import { noResults } from './testing/results.ts'
import type { PassResults } from './testing/results.ts'
import { runChecks } from './testing/run-checks.ts'
import { Interrupted, runPass } from './testing/run-pass.ts'

const help = `npm test [-- options] [folders or files]

Without options: the static checks and what a change needs, as you. With folders or files: all tests in them.

  --ci            what must pass before a landing. What has changed since --base decides how much:
                  only pages, source code, or walls (or an unknown change).
  --base COMMIT   default: LAZARET_CI_BASE, else where this branch left origin/main
  --all           everything, at every level: other users, machines without namespaces, forks, the oldest Node
  --wide          --all, and the suites with the most rounds
  --oldest        only the tests on the oldest Node
  --again         only the files that failed in the last run
  --plan          print what would run, and its cost, instead of running it
  --record        write what the files cost to test/timings.json
`

const runs: Readonly<Record<string, Run>> = {
  '--ci': 'ci',
  '--all': 'all',
  '--wide': 'wide',
  '--oldest': 'oldest',
  '--again': 'again',
}

/**
 * On somebody's own machine a skip is no defect. Before a landing as many may be unknown as in all of its passes together before
 * skips had names: not every file was recorded at each level yet.
 */
const unknownSkipsMax: Readonly<Record<Run, number>> = {
  daily: Infinity,
  again: Infinity,
  ci: 10,
  all: 0,
  wide: 0,
  oldest: 0,
}

interface Arguments {
  readonly run: Run
  readonly filters: readonly string[]
  readonly base: string | undefined
  readonly isPlan: boolean
  readonly isRecording: boolean
}

process.chdir(`${import.meta.dirname}/..`)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Interrupted)) throw error
  process.exitCode = 130
}

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) return complain(help, 0)
  const wanted = parse(words)
  if (typeof wanted === 'string') return complain(`${wanted}\n\n${help}`)
  const change = wanted.run === 'ci' ? findChange(wanted.base) : undefined
  if (change !== undefined) process.stdout.write(`${describeChange(change)}\n`)
  const failed = wanted.run === 'again' ? lastFailures() : undefined
  if (wanted.run === 'again' && failed === undefined) return complain('There are no results of a last run.')
  const passes = planPasses({
    run: wanted.run,
    filters: wanted.filters,
    isRoot: process.getuid?.() === 0,
    ...(change !== undefined && { change }),
    ...(failed !== undefined && { failed }),
  })
  if (passes.length === 0)
    return wanted.run === 'again'
      ? complain('Nothing failed in the last run.', 0)
      : complain(`No test file matches ${wanted.filters.join(' or ') || 'the folder of tests'}.`)
  if (wanted.isPlan) return complain(describePlan(passes), 0)
  return await runAll(passes, wanted)
}

function parse(words: readonly string[]): Arguments | string {
  const [options, filters]: [string[], string[]] = [[], []]
  let base: string | undefined
  for (const [index, word] of words.entries()) {
    if (word === '--base') base = words[index + 1] ?? ''
    else if (words[index - 1] === '--base') continue
    else (word.startsWith('-') ? options : filters).push(word)
  }
  const known = [...Object.keys(runs), '--plan', '--record']
  const strange = options.filter((option) => !known.includes(option))
  if (strange.length > 0) return `There is no option ${strange.join(', ')}.`
  const named = options.filter((option) => runs[option] !== undefined)
  return {
    run: runs[named.at(-1) ?? ''] ?? 'daily',
    filters,
    base,
    isPlan: options.includes('--plan'),
    isRecording: options.includes('--record'),
  }
}

async function runAll(passes: readonly Pass[], { run, filters, isRecording }: Arguments): Promise<number> {
  const quarantine = readQuarantine()
  const parts: Part[] = []
  forgetResults()
  // A style error shows in seconds, not after the tests. Named files are somebody's work in progress.
  if ((run === 'daily' || run === 'ci') && filters.length === 0)
    parts.push(await timed('static checks', runChecks))
  // One after another: concurrent passes starve each other's hosts, and some count the resources of one user.
  for (const pass of passes) {
    if (parts.some(({ results }) => results.failed > 0) && run === 'ci') {
      process.stdout.write(`\n${pass.name}: not run, because of the failures before\n`)
      continue
    }
    process.stdout.write(`\n${pass.name}: ${pass.files.length} files\n`)
    const part = await timed(pass.name, async () => withQuarantine(await runPass(pass), quarantine))
    parts.push({ ...part, level: pass.level, files: pass.files })
    keepResults(parts)
  }
  if (isRecording) record(parts)
  const strange = unknownSkips(parts)
  const areTolerated = strange.length <= unknownSkipsMax[run]
  const problems = [...problemsOf(quarantine, Date.now()), ...(areTolerated ? [] : strange)]
  const notes = {
    'In test/known-skips.json, but ran:': neededNoMore(parts),
    ...(areTolerated && { 'Skipped here, and nothing explains it:': strange }),
  }
  process.stdout.write(`\n${describeParts(parts, { problems, notes }).join('\n')}\n`)
  return problems.length > 0 || parts.some(({ results }) => results.failed > 0) ? 1 : 0
}

function record(parts: readonly Part[]): void {
  const started = parts.filter(({ level }) => level === 'started')
  const measured = started.flatMap(({ results }) =>
    results.files.flatMap(({ file, passed, failed, skipped, processorMs }) =>
      processorMs === undefined || failed > 0
        ? []
        : [[file, { cases: passed + skipped, ms: processorMs }] as const],
    ),
  )
  writeTimings(mergeTimings(readTimings(), Object.fromEntries(measured), findFiles([])))
}

function describeChange({ kind, paths }: Change): string {
  const what = { pages: 'only pages', source: 'source code, but no walls', walls: 'walls' }[kind]
  return paths === undefined
    ? 'What has changed is not known, so this counts as a change of walls.'
    : `${paths.length} changed files: ${what}.`
}

function describePlan(passes: readonly Pass[]): string {
  const timings = readTimings()
  return passes
    .map(({ name, files }) => {
      const known = files.map((file) => timings[file] ?? { cases: 0, ms: 0 })
      const total = (key: 'cases' | 'ms') => known.reduce((sum, one) => sum + one[key], 0)
      const heading = `${name}: ${files.length} files, ${total('cases')} tests, processors ${Math.round(total('ms') / 1000)} s`
      return [heading, ...files.map((file) => `  ${file}`)].join('\n')
    })
    .join('\n')
}

function complain(text: string, status = 1): number {
  process.stdout.write(`${text.trimEnd()}\n`)
  return status
}

async function timed(name: string, run: () => Promise<PassResults>): Promise<Part> {
  const startedMs = performance.now()
  const results = await run()
  return {
    name,
    results: { ...noResults, ...results },
    seconds: Math.round((performance.now() - startedMs) / 1000),
  }
}
