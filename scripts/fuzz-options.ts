/**
 * `npm run fuzz:options`: system calls with random options, flags and commands from inside runs, while the host
 * watches what it shares with them: memory, descriptors, locks, keys, cgroups, the kernel's log, its own event loop and
 * two neighbours. The corpus runs first, then programs from the seed, for the requested time. `-- --help` lists the options.
 * It fuzzes the level of its user: `strong` as root, `standard` as another user, or `--restricted`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'

import { WithoutLayers } from '../test/support/hosts/without-layer.ts'
import { fuzzOptions } from './option-fuzzing/fuzz.ts'
import type { FuzzReport } from './option-fuzzing/fuzz.ts'
import { whyNoGuest } from './option-fuzzing/guest.ts'
import { withoutNamespaces } from './soaking/kill-hosts.ts'

const usage = `npm run fuzz:options -- [options]
  --seconds N    how long to generate new programs, after those of the corpus (60)
  --seed N       generates the same programs again
  --only WHICH   only this iteration of the seed, or only this program of the corpus
  --restricted   without namespaces, as on a machine that refuses them; only as root, whose guests have their own ids
  --json         the report as JSON

The exit code is 0 if nothing was found, and 1 if something was. Ctrl-C ends it after the current run.
`
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    restricted: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]

process.exitCode = await main()

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (!Number.isInteger(seconds) || seconds < 0 || !Number.isInteger(seed)) {
    process.stderr.write(usage)
    return 64
  }
  const obstacle = whyNoGuest()
  if (obstacle !== false) {
    process.stderr.write(`fuzz: ${obstacle}\n`)
    return 1
  }
  if (values.restricted) return onPoorerMachine()
  const interruption = new AbortController()
  // The first signal lets the current run end and prints the report. A second one ends this program.
  process.once('SIGINT', () => interruption.abort())
  const { signal } = interruption
  const say = (line: string) => void process.stderr.write(`fuzz: ${line}\n`)
  const report = await fuzzOptions({ seconds, seed, only: values.only, signal, say })
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : format(report))
  if (report.findings.length > 0) return 1
  return signal.aborted ? 130 : 0
}

function format({ level, tally, neighbourRuns, unconfirmed, findings, ...report }: FuzzReport): string {
  return [
    `\n${tally.runs} runs and ${tally.calls} calls in ${report.seconds} s, level ${level}, seed ${seed}`,
    `runs ended: ${tally.outcomes}; neighbours: ${neighbourRuns} runs; moved once and not again: ${unconfirmed}`,
    ...tally.lines().map((line) => `  ${line}`),
    ...(findings.length === 0 ? ['Nothing was found.'] : []),
    ...findings.map(
      ({ what, moved, from, program }) =>
        `✖ ${what}, ${moved}, by ${from}\n${program.replaceAll(/^/gm, '    ')}`,
    ),
    '',
  ].join('\n')
}

/** Runs the same command again where the kernel refuses namespaces. */
async function onPoorerMachine(): Promise<number> {
  using without = new WithoutLayers()
  const args = process.argv.slice(1).filter((word) => word !== '--restricted')
  const again = [process.execPath, ...args, '--seed', String(seed)]
  const [file, ...words] = without.command(withoutNamespaces(), again)
  const child = spawn(file, words, { stdio: 'inherit' })
  // A terminal's SIGINT reaches both processes; the child prints the report.
  process.on('SIGINT', () => undefined)
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  return exitCode ?? 1
}
