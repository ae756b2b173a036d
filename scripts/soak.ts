/**
 * `npm run soak`: ten thousand runs of all kinds, fifty at a time: values, errors, timeouts, out-of-memory kills,
 * floods, cancellations and more, each with its one right answer. Afterwards nothing of them may be left in the host
 * process or on the machine. `npm run soak -- --help` lists the options. The short form is test-deep/soak.test.ts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'

import { WithoutLayers } from '../test/support/hosts/without-layer.ts'
import { killHosts, withoutNamespaces } from './soaking/kill-hosts.ts'
import { stressKinds } from './soaking/deck.ts'
import { soak } from './soaking/soak.ts'
import type { SoakReport } from './soaking/soak.ts'
import { soakSandboxes } from './soaking/soak-sandboxes.ts'
import type { Tally } from './soaking/tally.ts'

const usage = `npm run soak -- [options]
  --runs N        the number of runs after the warm-up (10000)
  --in-flight N   how many at one time (50)
  --seed N        repeats the cases of this seed
  --stress        more hostile runs: they refuse to end, leave something behind or hoard resources
  --cold          no parked workers: every run gets a new cell
  --restricted    without namespaces, as on a machine that refuses them
  --sandboxes N   instead: this many sandboxes, each running a random script, for --minutes
  --minutes N     with --sandboxes: for how long (10)
  --kill-host     instead: kill a host with SIGKILL during such runs, and check what it leaves behind
  --times N       with --kill-host: how often (5)
  --json          the report as JSON
`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    'in-flight': { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    stress: { type: 'boolean', default: false },
    cold: { type: 'boolean', default: false },
    restricted: { type: 'boolean', default: false },
    sandboxes: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    'kill-host': { type: 'boolean', default: false },
    times: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const { cold, restricted } = values
const runs = Number(values.runs)
const inFlight = Number(values['in-flight'])
const seed = Number(values.seed)
const times = Number(values.times)
const everyMs = process.stderr.isTTY ? 1000 : 10_000

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (![runs, inFlight, times].every((count) => Number.isInteger(count) && count > 0) || Number.isNaN(seed)) {
    process.stderr.write(usage)
    return 64
  }
  if (values['kill-host']) return killHostsAndTell()
  if (values.sandboxes !== undefined && !restricted) return soakSandboxesAndTell(Number(values.sandboxes))
  return restricted ? onPoorerMachine() : soakAndTell()
}

async function soakAndTell(): Promise<number> {
  const interruption = new AbortController()
  // After the first signal no run begins, and the report is printed. A second one ends this program.
  process.once('SIGINT', () => interruption.abort())
  process.stderr.write(`soak: ${runs} runs, ${inFlight} in flight, seed ${seed}\n`)
  const { signal } = interruption
  const kinds = values.stress ? stressKinds : undefined
  const plan = { runs, inFlight, seed, cold, signal, ...(kinds && { kinds }) }
  const report = await soak({ ...plan, onProgress: showProgress() })
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : format(report))
  if (report.problems.length > 0) return 1
  return signal.aborted ? 130 : 0
}

async function soakSandboxesAndTell(sandboxes: number): Promise<number> {
  const interruption = new AbortController()
  process.once('SIGINT', () => interruption.abort())
  const seconds = Number(values.minutes) * 60
  if (!Number.isInteger(sandboxes) || sandboxes < 1 || !(seconds > 0)) {
    process.stderr.write(usage)
    return 64
  }
  process.stderr.write(`soak: ${sandboxes} sandboxes for ${seconds} s, seed ${seed}\n`)
  const { signal } = interruption
  const report = await soakSandboxes({ sandboxes, seconds, seed, signal, onProgress: showProgress() })
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  return report.problems.length > 0 ? 1 : 0
}

/** On a terminal one line that is overwritten; otherwise a line from time to time. */
function showProgress(): (tally: Tally) => void {
  let shownMs = 0
  return (tally) => {
    if (performance.now() - shownMs < everyMs) return
    shownMs = performance.now()
    const line = `${tally.runs} runs done, ${(tally.runs / tally.seconds).toFixed(1)} a second, ${tally.wrong} wrong`
    process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${line}` : `${line}\n`)
  }
}

function format(report: SoakReport): string {
  const { level, lateness, latencies, loop, problems, residentGrowthBytes } = report
  const load = (loadavg()[0] ?? 0).toFixed(1)
  const head = `${report.runs} runs in ${report.seconds} s, ${report.runsPerSecond} a second, ${inFlight} in flight, level ${level}, seed ${seed}, load ${load}`
  const row = (name: string, figures: readonly (string | number)[]) =>
    `  ${name.padEnd(24)}${figures.map((figure) => String(figure).padStart(9)).join('')}`
  return [
    `\n${head}`,
    row('ms', ['runs', 'p50', 'p95', 'p99']),
    ...latencies
      .toSorted((a, b) => b.runs - a.runs)
      .map(({ kind, runs: count, p50Ms, p95Ms, p99Ms }) => row(kind, [count, p50Ms, p95Ms, p99Ms])),
    row('late at a deadline', [lateness.runs, lateness.p50Ms, lateness.p95Ms, lateness.p99Ms]),
    `The latest was ended ${lateness.maxMs} ms after its deadline. The event loop was blocked for ${loop.maxMs.toFixed(1)} ms at most.`,
    `The host grew by ${(residentGrowthBytes / 1024 / 1024).toFixed(1)} MiB in a quarter of the runs.`,
    `${report.wrong} answers were wrong.`,
    ...(problems.length === 0 ? ['Nothing was left behind.'] : problems.map((problem) => `✖ ${problem}`)),
    '',
  ].join('\n')
}

async function killHostsAndTell(): Promise<number> {
  process.stderr.write(
    `soak: a host with ${inFlight} runs in flight is killed ${times} times, seed ${seed}\n`,
  )
  const onDeath = (line: string) => process.stderr.write(`${line}\n`)
  const report = await killHosts({ times, inFlight, seed, cold, restricted, onDeath })
  if (values.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  else
    process.stdout.write(
      report.problems.length === 0
        ? `${report.deaths.length} hosts were killed, and nothing was left of them.\n`
        : report.problems.map((problem) => `✖ ${problem}\n`).join(''),
    )
  return report.problems.length === 0 ? 0 : 1
}

/** Runs the same command again where the kernel refuses namespaces. */
async function onPoorerMachine(): Promise<number> {
  using without = new WithoutLayers()
  const args = process.argv.slice(1).filter((word) => word !== '--restricted')
  const [file, ...words] = without.command(withoutNamespaces(), [
    process.execPath,
    ...args,
    '--seed',
    String(seed),
  ])
  const child = spawn(file, words, { stdio: 'inherit' })
  // A terminal's SIGINT reaches both processes; the child prints the report.
  process.on('SIGINT', () => undefined)
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  return exitCode ?? 1
}
