/**
 * `npm run mutate`: whether the tests that each landing runs notice deliberate defects. A copy of the checkout gets one
 * defect of the table at a time (scripts/mutating), and the tests that must notice it run there: at least one of them has
 * to fail, although without the defect all of them pass. `-- --help` lists the options.
 */
import { parseArgs } from 'node:util'

import { describeResult, isCaught, isDoubtful } from './mutating/judge.ts'
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

try {
  process.exitCode = await main()
} catch (error) {
  process.exitCode = complain([messageOf(error)])
}

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
  const unsteady = await findUnsteady(first, chosen)
  const left = [...chosen]
  const survivors: string[] = []
  const work = async (copy: WorkingCopy): Promise<void> => {
    for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
      try {
        const judged = await tryOne(copy, mutation, unsteady)
        say(describeResult(judged))
        if (!isCaught(judged)) survivors.push(mutation.name)
      } catch (error) {
        // It does not compile, or nothing could be loaded: that proves nothing about the tests.
        if (interruption.signal.aborted) throw error
        say(`✖ ${mutation.name}: ${messageOf(error)}`)
        survivors.push(mutation.name)
      }
    }
  }
  const more = Array.from({ length: Math.min(jobs, chosen.length) - 1 }, () => copies.use(new WorkingCopy()))
  await Promise.all([first, ...more].map(work))
  say(`\n${chosen.length - survivors.length} of ${chosen.length} defects were noticed.`)
  return survivors.length === 0 ? 0 : complain([`not noticed: ${survivors.join(', ')}`])
}

/**
 * The tests that failed once without any defect and then passed alone, as on a busy machine: what they say does not count.
 * Throws if one fails again, or if the defects of TypeScript files, all together, do not compile.
 */
async function findUnsteady(copy: WorkingCopy, chosen: readonly Mutation[]): Promise<ReadonlySet<string>> {
  {
    const ofTypeScript = chosen.filter(({ file }) => file.endsWith('.ts'))
    using _ = copy.apply(ofTypeScript, { builds: false })
    copy.compile()
  }
  const files = [...new Set(chosen.flatMap(({ caughtBy }) => caughtBy))]
  say(`Without defects, the tests of ${files.length} files have to pass; they run first.`)
  const startedMs = performance.now()
  const { passes } = await copy.run(files, interruption.signal)
  const unsteady = new Set(passes.flatMap(({ failures }) => failures))
  const failed = files.filter((file) => [...unsteady].some((failure) => failure.startsWith(file)))
  if (unsteady.size > 0) {
    const again = await copy.run(failed, interruption.signal)
    if (failed.length === 0 || again.passes.some((pass) => pass.failed > 0))
      throw new Error(`tests fail without a defect:\n${again.output}`)
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  say(
    `They passed (${seconds} s)${unsteady.size === 0 ? '.' : `, these only alone: ${[...unsteady].join(', ')}`}`,
  )
  return unsteady
}

async function tryOne(copy: WorkingCopy, mutation: Mutation, unsteady: ReadonlySet<string>): Promise<Judged> {
  const startedMs = performance.now()
  using _ = copy.apply([mutation])
  const { passes, output } = await copy.run(mutation.caughtBy, interruption.signal)
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const judged = { mutation, passes, unsteady, output, seconds }
  if (isDoubtful(judged)) copy.load()
  return judged
}

function complain(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`mutate: ${problem}\n`)
  return 1
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
