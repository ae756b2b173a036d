/**
 * `npm test`: the tests that a change needs, as the user who started it, with the static checks at the same time. `npm
 * test -- test/jail` runs the files below a folder. `npm run test:all` runs everything that `npm test` leaves out: the
 * suites that take too long for every day; as root the tests about walls again as a plain user, because those walls are
 * built differently; all of these on a machine that refuses namespaces; attacks from guests that are forks of a zygote;
 * and tests about the host on the oldest Node that package.json allows, which `npm run test:oldest` runs alone.
 * `--wide` adds the widest suites. The last line is the total.
 */
import { isExcused } from './testing/plan/optional-packages.ts'
import { planPasses } from './testing/plan/passes.ts'
import type { Tier } from './testing/plan/passes.ts'
import type { PassResults } from './testing/results.ts'
import { describeParts } from './testing/describe-parts.ts'
import type { Part } from './testing/describe-parts.ts'
import { runChecks } from './testing/run-checks.ts'
import { Interrupted, runPass } from './testing/run-pass.ts'

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
  if (passes.length === 0)
    return complain(`No test file matches ${filters.join(' or ') || 'the folder of tests'}.`)

  const checks = tier === 'daily' ? [timed('static checks', runChecks)] : []
  const parts: Part[] = []
  const surplus: string[] = []
  // One after another: concurrent passes starve each other's hosts, and some count the resources of one user.
  for (const pass of passes) {
    process.stdout.write(`\n${pass.name}: ${pass.files.length} files\n`)
    const part = await timed(pass.name, () => runPass(pass))
    parts.push(part)
    const skipped = part.results.skipped.filter(({ reason }) => !isExcused(reason))
    if (skipped.length > pass.skippedMax)
      surplus.push(
        `${pass.name}: ${skipped.length} tests were skipped that no missing package excuses; at most ${pass.skippedMax} may be:`,
        ...skipped.map(({ name, reason }) => `  ${name} (${reason})`),
      )
  }
  parts.push(...(await Promise.all(checks)))
  process.stdout.write(`\n${describeParts(parts, surplus).join('\n')}\n`)
  return surplus.length > 0 || parts.some(({ results }) => results.failed > 0) ? 1 : 0
}

function complain(problem: string): number {
  process.stdout.write(`${problem}\n`)
  return 1
}

async function timed(name: string, run: () => Promise<PassResults>): Promise<Part> {
  const startedMs = performance.now()
  const results = await run()
  return { name, results, seconds: Math.round((performance.now() - startedMs) / 1000) }
}
