/**
 * `npm run mutate`: whether the tests that each landing runs notice deliberate defects. A copy of the checkout gets one
 * defect of the table at a time (scripts/mutating), and the tests that must notice it run there: at least one of them has
 * to fail, although without the defect all of them pass. `-- --help` lists the options.
 */
import { parseArgs } from 'node:util'

import { describeResult, isCaught } from './mutating/judge.ts'
import type { Judged } from './mutating/judge.ts'
import { runsOnLanding } from './mutating/landing.ts'
import type { Mutation } from './mutating/mutation.ts'
import { mutations } from './mutating/mutations.ts'
import { WorkingCopy } from './mutating/working-copy.ts'

const usage = `npm run mutate -- [options] [name...]
  --list     the defects, and the tests that must notice them
  --jobs N   copies of the checkout in which defects are tried at one time (1)

Without names all defects are tried. The exit code is 0 if each was noticed, and 1 if one was not.
`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const interruption = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort())

process.exitCode = await main()

async function main(): Promise<number> {
  const jobs = Number(values.jobs)
  const unknown = positionals.filter((wanted) => !mutations.some(({ name }) => name === wanted))
  if (values.help || unknown.length > 0 || !Number.isInteger(jobs) || jobs < 1) {
    for (const name of unknown)
      process.stderr.write(`mutate: there is no defect ${name}; --list lists them.\n`)
    process.stdout.write(usage)
    return values.help ? 0 : 64
  }
  const chosen =
    positionals.length === 0 ? mutations : mutations.filter(({ name }) => positionals.includes(name))
  if (values.list) {
    for (const { name, kind, defect, caughtBy } of chosen)
      say(`${name} (${kind}): ${defect}\n    ${caughtBy.join(', ')}`)
    return 0
  }
  const late = chosen.flatMap(({ name, file, caughtBy }) =>
    caughtBy
      .filter((test) => !runsOnLanding(test, file))
      .map((test) => `${name}: a landing does not run ${test}`),
  )
  if (late.length > 0) return complain(late)
  return tryAll(chosen, jobs)
}

async function tryAll(chosen: readonly Mutation[], jobs: number): Promise<number> {
  using copies = new DisposableStack()
  const first = copies.use(new WorkingCopy())
  say(`Without defects: ${await requireGood(first, chosen)}`)
  const left = [...chosen]
  const judged: Judged[] = []
  const work = async (copy: WorkingCopy): Promise<void> => {
    for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
      const one = await tryOne(copy, mutation)
      judged.push(one)
      say(describeResult(one))
    }
  }
  const more = Array.from({ length: Math.min(jobs, chosen.length) - 1 }, () => copies.use(new WorkingCopy()))
  await Promise.all([first, ...more].map(work))
  const survivors = judged.filter((one) => !isCaught(one)).map(({ mutation }) => mutation.name)
  say(`\n${judged.length - survivors.length} of ${judged.length} defects were noticed.`)
  return survivors.length === 0 ? 0 : complain([`not noticed: ${survivors.join(', ')}`])
}

/** Throws if a test fails without any defect, or if the defects of TypeScript files, all together, do not compile. */
async function requireGood(copy: WorkingCopy, chosen: readonly Mutation[]): Promise<string> {
  {
    using _ = copy.apply(
      chosen.filter(({ file }) => file.endsWith('.ts')),
      { builds: false },
    )
    copy.compile()
  }
  const startedMs = performance.now()
  const files = [...new Set(chosen.flatMap(({ caughtBy }) => caughtBy))]
  const { passes, output } = await copy.run(files, interruption.signal)
  if (passes.some(({ failed }) => failed > 0)) throw new Error(`Tests fail without a defect:\n${output}`)
  const passed = passes.reduce((sum, one) => sum + one.passed, 0)
  return `${passed} tests of ${files.length} files passed (${Math.round((performance.now() - startedMs) / 1000)} s)`
}

async function tryOne(copy: WorkingCopy, mutation: Mutation): Promise<Judged> {
  const startedMs = performance.now()
  using _ = copy.apply([mutation])
  copy.load()
  const { passes, output } = await copy.run(mutation.caughtBy, interruption.signal)
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  return { mutation, passes, output, seconds }
}

function complain(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`mutate: ${problem}\n`)
  return 1
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
