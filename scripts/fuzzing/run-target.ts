/** Runs one target under libFuzzer for a number of seconds, and prints its progress. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { Target } from './targets.ts'

export interface FuzzResult {
  readonly executions: number
  readonly executionsPerSecond: number
  /** Edges of the program that were reached, as counted by libFuzzer. */
  readonly edges: number
  /** Names of files with inputs that broke something. */
  readonly findings: readonly string[]
}

export interface FuzzOptions {
  readonly seconds: number
  /** Where inputs are read from and new ones written to. */
  readonly corpus: string
  readonly findingsFolder: string
  readonly onProgress: (line: string) => void
  readonly signal?: AbortSignal
}

/** One input that takes longer is a finding; the slowest usual one takes milliseconds. */
const secondsOfOneInput = 20
const memoryMegabytesMax = 2048

export async function runTarget(program: string, target: Target, options: FuzzOptions): Promise<FuzzResult> {
  mkdirSync(options.findingsFolder, { recursive: true })
  const child = spawn(
    'nice',
    [
      program,
      `-max_total_time=${options.seconds}`,
      `-max_len=${target.inputBytesMax}`,
      `-timeout=${secondsOfOneInput}`,
      `-rss_limit_mb=${memoryMegabytesMax}`,
      `-artifact_prefix=${options.findingsFolder}/${target.name}-`,
      '-print_final_stats=1',
      '-print_pcs=0',
      options.corpus,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] } },
  )
  const stop = () => child.kill('SIGINT')
  options.signal?.addEventListener('abort', stop, { once: true })
  const result = { executions: 0, executionsPerSecond: 0, edges: 0, findings: [] as string[] }
  const tail: string[] = []
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.startsWith('#')) tail.push(line)
    if (tail.length > 60) tail.shift()
    const [, edges] = /\bcov: (\d+)/.exec(line) ?? []
    if (edges !== undefined) result.edges = Number(edges)
    const [, written] = /Test unit written to (\S+)/.exec(line) ?? []
    if (written !== undefined) result.findings.push(written)
    const [, name, value] = /^stat::(\w+):\s*(\d+)/.exec(line) ?? []
    if (name === 'number_of_executed_units') result.executions = Number(value)
    if (name === 'average_exec_per_sec') result.executionsPerSecond = Number(value)
    if (line.includes('pulse')) options.onProgress(line)
  }
  const [code] = (await ended) as [number | null]
  options.signal?.removeEventListener('abort', stop)
  const isStopped = options.signal?.aborted ?? false
  if (code !== 0 && !isStopped && result.findings.length === 0) result.findings.push(`exit code ${code}`)
  if (result.findings.length > 0) options.onProgress(tail.join('\n'))
  return result
}

/** Writes a minimal set of inputs to `into` that reaches as much as all of them. */
export async function minimise(program: string, into: string, from: string): Promise<void> {
  mkdirSync(into, { recursive: true })
  const child = spawn(program, ['-merge=1', into, from], { stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`The corpus could not be minimised: exit code ${code}.`)
}

export function findingsFolderIn(folder: string): string {
  return join(folder, 'findings')
}
