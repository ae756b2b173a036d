/**
 * `npm run fuzz`: the launcher's parsers against inputs that libFuzzer generates, under ASan and UBSan, with a fake
 * kernel below them. `npm run fuzz -- --seconds 600 control` runs one target for ten minutes; without a target each of
 * them runs for that long. `--replay` runs only the known inputs, with any compiler. `--keep` minimises new inputs
 * and adds them to the corpus. An input that breaks something is written to native/fuzz/regressions.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

import { buildTargets, findObstacle } from './fuzzing/build-targets.ts'
import { keepInputs, regressionsFolder, writeInputs } from './fuzzing/corpus.ts'
import { countLines, findCoverageObstacle } from './fuzzing/coverage.ts'
import { findingsFolderIn, minimise, runTarget } from './fuzzing/run-target.ts'
import type { FuzzResult } from './fuzzing/run-target.ts'
import { targets } from './fuzzing/targets.ts'
import type { Target } from './fuzzing/targets.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    replay: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const seconds = Number(values.seconds)
const chosen = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const interruption = new AbortController()
process.exitCode = await main()

async function main(): Promise<number> {
  const usage = `Usage: npm run fuzz -- [--seconds N] [--replay] [--keep] [${targets.map(({ name }) => name).join('|')}]`
  if (values.help) {
    say(usage)
    return 0
  }
  if (chosen.length === 0 || !Number.isInteger(seconds) || seconds < 1) return complain(usage)
  const kind = values.replay ? 'replay' : 'fuzz'
  const obstacle = findObstacle(kind)
  if (obstacle !== undefined) {
    return complain(
      `${obstacle}. On Debian: apt-get install clang libclang-rt-dev llvm. Known inputs alone: --replay.`,
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-fuzz-'))
  // The first signal ends the target, which then reports, and the summary is still printed. A second one ends this program.
  process.once('SIGINT', () => interruption.abort())
  try {
    return await (values.replay ? replayAll(folder) : fuzzAll(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function replayAll(folder: string): number {
  const programs = buildTargets('replay', chosen, folder)
  let broken = 0
  for (const { name } of chosen) {
    const inputs = writeInputs(name, join(folder, 'inputs', name))
    say(`${name}:`)
    broken +=
      spawnSync(programs.get(name) ?? '', inputs, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
        ? 0
        : 1
  }
  return broken === 0 ? 0 : 1
}

async function fuzzAll(folder: string): Promise<number> {
  const programs = buildTargets('fuzz', chosen, folder)
  const inputs = new Map<string, readonly string[]>()
  let broken = 0
  for (const target of chosen) {
    if (interruption.signal.aborted) break
    const program = programs.get(target.name) ?? ''
    const corpus = join(folder, 'inputs', target.name)
    const known = writeInputs(target.name, corpus).length
    say(`${target.name}: ${known} known inputs, ${seconds} s`)
    const result = await fuzzOne(program, target, corpus, folder)
    report(target, result)
    broken += result.findings.length
    inputs.set(
      target.name,
      readdirSync(corpus).map((name) => join(corpus, name)),
    )
    if (!values.keep || result.findings.length > 0) continue
    const smallest = join(folder, 'minimised', target.name)
    await minimise(program, smallest, corpus)
    const { kept, bytes } = keepInputs(target.name, smallest)
    say(`${target.name}: ${kept} inputs kept, ${bytes} bytes`)
  }
  reportLines(inputs, folder)
  return broken === 0 ? 0 : 1
}

async function fuzzOne(program: string, target: Target, corpus: string, folder: string): Promise<FuzzResult> {
  const findingsFolder = findingsFolderIn(folder)
  const onProgress = (line: string) => say(`  ${line}`)
  const result = await runTarget(program, target, {
    seconds,
    corpus,
    findingsFolder,
    onProgress,
    signal: interruption.signal,
  })
  const kept = regressionsFolder(target.name)
  for (const file of result.findings.filter((finding) => finding.startsWith('/'))) {
    mkdirSync(kept, { recursive: true })
    copyFileSync(file, join(kept, basename(file)))
    say(`  kept as ${join(kept, basename(file))}`)
  }
  return result
}

function report({ name }: Target, { executions, executionsPerSecond, edges, findings }: FuzzResult): void {
  const end = findings.length === 0 ? 'nothing found' : `FOUND: ${findings.join(', ')}`
  say(`${name}: ${executions} executions, ${executionsPerSecond} a second, ${edges} edges reached; ${end}`)
}

function reportLines(inputs: ReadonlyMap<string, readonly string[]>, folder: string): void {
  const obstacle = findCoverageObstacle()
  if (obstacle !== undefined) return say(`Lines were not counted: ${obstacle}.`)
  if (inputs.size === 0) return
  say('\nlines of native/cell that these inputs reach:')
  for (const { file, lines, covered } of countLines(inputs, chosen, folder)) {
    say(
      `  ${file.padEnd(14)} ${String(covered).padStart(4)} of ${String(lines).padStart(4)}  ${Math.round((100 * covered) / lines)} %`,
    )
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function complain(line: string): number {
  process.stderr.write(`fuzz: ${line}\n`)
  return 1
}
