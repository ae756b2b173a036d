/**
 * `npm test`: the static checks, then every test; then, when root started it, the tests about walls once more as a
 * plain user, because those walls are built differently. `npm test -- test/jail` runs the files below a folder;
 * `npm run test:deep` runs the suites that take too long for every day, and the tests about walls on a machine that
 * refuses namespaces; with `-- --all` in all their width. `npm run test:oldest` runs tests on the oldest Node that
 * package.json promises. The last line is the sum.
 */
import { planPasses } from './testing/passes.ts'
import type { PassResults } from './testing/results.ts'
import { runChecks } from './testing/run-checks.ts'
import { Interrupted, runPass } from './testing/run-pass.ts'

interface Part {
  readonly name: string
  readonly results: PassResults
  readonly seconds: number
}

process.chdir(`${import.meta.dirname}/..`)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Interrupted)) throw error
  process.exitCode = 130
}

async function main(args: readonly string[]): Promise<number> {
  const [deep, all, oldest] = [args.includes('--deep'), args.includes('--all'), args.includes('--oldest')]
  const filters = args.filter((argument) => !['--deep', '--all', '--oldest'].includes(argument))
  const passes = planPasses({ deep, all, oldest, filters, isRoot: process.getuid?.() === 0 })
  if (passes.every(({ files }) => files.length === 0)) {
    process.stdout.write(
      `No test file is, or lies below, ${filters.join(' or ') || 'the folder of tests'}.\n`,
    )
    return 1
  }

  const parts: Part[] = deep || oldest ? [] : [await timed('static checks', runChecks)]
  const surplus: string[] = []
  for (const pass of passes) {
    if (pass.files.length === 0) continue
    process.stdout.write(`\n${pass.name}: ${pass.files.length} files\n`)
    const part = await timed(pass.name, () => runPass(pass))
    const { results } = part
    parts.push(part)
    if (results.skipped.length > pass.skippedMax) {
      surplus.push(
        `${pass.name}: ${results.skipped.length} tests were skipped; at most ${pass.skippedMax} may be.`,
      )
    }
  }
  report(parts, surplus)
  return surplus.length > 0 || parts.some(({ results }) => results.failed > 0) ? 1 : 0
}

async function timed(name: string, run: () => PassResults | Promise<PassResults>): Promise<Part> {
  const startedMs = performance.now()
  const results = await run()
  return { name, results, seconds: Math.round((performance.now() - startedMs) / 1000) }
}

function report(parts: readonly Part[], surplus: readonly string[]): void {
  const lines = parts.map(({ name, results, seconds }) => `${name}: ${describe([results])} (${seconds} s)`)
  const skipped = parts.flatMap(({ name, results }) =>
    results.skipped.map((test) => `  ${name}: ${test.name} (${test.reason})`),
  )
  if (skipped.length > 0) lines.push('', 'Skipped:', ...skipped)
  lines.push('', ...surplus, describe(parts.map(({ results }) => results)))
  process.stdout.write(`\n${lines.join('\n')}\n`)
}

function describe(results: readonly PassResults[]): string {
  const total = (count: (one: PassResults) => number) => results.reduce((sum, one) => sum + count(one), 0)
  const { passed, failed } = { passed: total((one) => one.passed), failed: total((one) => one.failed) }
  return `${passed} passed, ${failed} failed, ${total((one) => one.skipped.length)} skipped`
}
