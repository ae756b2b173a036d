/**
 * `npm test`: the tests that a change needs, as whoever started it, with the static checks beside them. `npm test --
 * test/jail` runs the files below a folder. `npm run test:all` runs everything that `npm test` leaves: the suites that
 * take too long for every day; as root the tests about walls once more as a plain user, because those walls are built
 * differently; all of these on a machine that refuses namespaces; and tests about the host on the oldest Node that
 * package.json promises, which `npm run test:oldest` runs alone. `--wide` adds the widest suites. The last line is the sum.
 */
import { readFileSync } from 'node:fs'
import { planPasses } from './testing/passes.ts'
import type { Tier } from './testing/passes.ts'
import type { PassResults } from './testing/results.ts'
import { runChecks } from './testing/run-checks.ts'
import { Interrupted, runPass } from './testing/run-pass.ts'

interface Part {
  readonly name: string
  readonly results: PassResults
  readonly seconds: number
  /** What its processes used of the processors: it says more than time where others work. */
  readonly processorSeconds?: number
}

/** As `getconf CLK_TCK` has it on every Linux. */
const ticksPerSecond = 100

const tiers: Readonly<Record<string, Tier>> = { '--all': 'rest', '--wide': 'wide', '--oldest': 'oldest' }

process.chdir(`${import.meta.dirname}/..`)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Interrupted)) throw error
  process.exitCode = 130
}

async function main(args: readonly string[]): Promise<number> {
  const [options, filters] = [
    args.filter((one) => one.startsWith('-')),
    args.filter((one) => !one.startsWith('-')),
  ]
  const strange = options.filter((option) => tiers[option] === undefined)
  if (strange.length > 0)
    return complain(`${strange.join(', ')}: the options are ${Object.keys(tiers).join(', ')}.`)
  const tier = tiers[options.at(-1) ?? ''] ?? 'daily'
  const passes = planPasses({ tier, filters, isRoot: process.getuid?.() === 0 })
  if (passes.every(({ files }) => files.length === 0))
    return complain(`No test file is, or lies below, ${filters.join(' or ') || 'the folder of tests'}.`)

  const checks = tier === 'daily' ? timed('static checks', runChecks, 'beside others') : undefined
  const parts: Part[] = []
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
  if (checks !== undefined) parts.push(await checks)
  report(parts, surplus)
  return surplus.length > 0 || parts.some(({ results }) => results.failed > 0) ? 1 : 0
}

function complain(problem: string): number {
  process.stdout.write(`${problem}\n`)
  return 1
}

async function timed(
  name: string,
  run: () => Promise<PassResults>,
  when: 'alone' | 'beside others' = 'alone',
): Promise<Part> {
  const [startedMs, usedBefore] = [performance.now(), processorSeconds()]
  const results = await run()
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const used = Math.round(processorSeconds() - usedBefore)
  // Beside others it would be theirs, too.
  return { name, results, seconds, ...(when === 'alone' && { processorSeconds: used }) }
}

/** Of all processes that were started here and have ended. */
function processorSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number)
  return (user + system) / ticksPerSecond
}

function report(parts: readonly Part[], surplus: readonly string[]): void {
  const lines = parts.map(
    ({ name, results, seconds, processorSeconds: used }) =>
      `${name}: ${describe([results])} (${seconds} s${used === undefined ? '' : `, processors ${used} s`})`,
  )
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
