/**
 * `npm run fuzz:forks`: random programs in forks of Node, Bun or Python. They allocate, collect, compile, wait, and start
 * threads and processes, at random moments: before, while and after a fork gets its threads back. Each must end with its
 * one right answer. `-- --help` lists the options.
 */
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'

import { fuzzForks } from './fork-fuzzing/fuzz.ts'
import type { ForkFuzzReport } from './fork-fuzzing/fuzz.ts'
import { engines } from './fork-fuzzing/generate.ts'

const usage = `npm run fuzz:forks -- [options]
  --engine NAME   ${engines.join(', ')} (all, one after another)
  --runs N        forks of each engine (1000)
  --in-flight N   how many at one time (4)
  --seed N        generates the same programs again
  --from N        begin with this case of the seed (0)
  --only N        only this case of the seed
  --json          the reports as JSON

The exit code is 0 if nothing was found, and 1 if something was. Ctrl-C ends it after the current runs.
`
const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    runs: { type: 'string', default: '1000' },
    'in-flight': { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    from: { type: 'string', default: '0' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const chosen = engines.filter((name) => values.engine === undefined || values.engine === name)
const [runs, inFlight] = [Number(values.runs), Number(values['in-flight'])]
const [seed, from] = [Number(values.seed), Number(values.from)]

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (
    chosen.length === 0 ||
    ![runs, inFlight].every((count) => count > 0) ||
    ![seed, from].every(Number.isInteger)
  ) {
    process.stderr.write(usage)
    return 64
  }
  const interruption = new AbortController()
  process.once('SIGINT', () => interruption.abort())
  const { signal } = interruption
  const only = values.only === undefined ? {} : { only: Number(values.only) }
  const reports: ForkFuzzReport[] = []
  for (const engine of chosen) {
    const say = (line: string) => void process.stderr.write(`fuzz: ${engine}: ${line}\n`)
    reports.push(await fuzzForks({ engine, runs, inFlight, seed, from, ...only, signal, say }))
  }
  process.stdout.write(values.json ? `${JSON.stringify(reports, null, 2)}\n` : reports.map(format).join(''))
  if (reports.some(({ findings }) => findings.length > 0)) return 1
  return signal.aborted ? 130 : 0
}

function format({ engine, starts, longest, findings, ...report }: ForkFuzzReport): string {
  const counts = Object.entries(starts).map(([start, count]) => `${count} ${start}`)
  const load = (loadavg()[0] ?? 0).toFixed(1)
  return [
    `\n${engine}: ${counts.join(', ')} in ${report.seconds.toFixed(1)} s, seed ${report.seed}, load ${load} on ${availableParallelism()} processors`,
    `the longest, case ${longest.index}: ${Math.round(longest.wallMs)} ms, ${Math.round(longest.cpuMs)} ms of processor time`,
    ...(findings.length === 0 ? ['Nothing was found.'] : []),
    ...findings.map(
      ({ index, what, program }) =>
        `✖ case ${index}, ${what}\n  npm run fuzz:forks -- --engine ${engine} --seed ${report.seed} --only ${index}\n${program.replaceAll(/^/gm, '    ')}`,
    ),
    '',
  ].join('\n')
}
