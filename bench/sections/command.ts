/** The whole command, compared with an empty script: the processor time of all its processes, and the elapsed time. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { compare } from '../measure/compare.ts'
import { own } from '../measure/interruption.ts'
import { quantile } from '../measure/statistics.ts'
import type { BenchOptions } from '../options.ts'
import { goalAtMost } from '../table.ts'
import type { Table } from '../table.ts'

const main = join(import.meta.dirname, '../../dist/adapters/cli/main.js')
const turnsMax = 30

interface Work {
  readonly args: readonly string[]
  readonly input?: string
  readonly expected: string
}

interface Command extends Work {
  /** The goal, as a multiple of an empty script. */
  readonly timesMax: number
}

const commands: readonly Command[] = [
  { args: ['run', '-l', 'shell', '-e', 'true'], expected: '', timesMax: 1.6 },
  { args: ['run', '-l', 'javascript', '-e', '1'], expected: '1\n', timesMax: 3 },
  { args: ['snippet'], input: '{"source":"emit(1)"}', expected: '{"output":"1"}\n', timesMax: 2.2 },
]

export async function benchCommand({ turns }: BenchOptions): Promise<Table[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-bench-'))
  try {
    const empty = join(folder, 'empty.mjs')
    writeFileSync(empty, '')
    const tables: Table[] = []
    for (const command of commands) tables.push(await compareWithEmpty(command, empty, turns))
    return tables
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function compareWithEmpty(command: Command, empty: string, turnsAsked: number): Promise<Table> {
  const turns = Math.min(turnsAsked, turnsMax)
  const rivals = [
    contestant(`lazaret ${command.args.join(' ')}`, { ...command, args: [main, ...command.args] }),
    contestant('node, an empty script', { args: [empty], expected: '' }),
  ]
  const table = await compare({
    title: `${command.args.join(' ')}: processor time of all processes`,
    turns,
    rivals,
    goals: ([ours, theirs]) => {
      const times = (ours?.figures['p50'] ?? Number.NaN) / (theirs?.figures['p50'] ?? Number.NaN)
      return [goalAtMost(`processor time ≤ ${command.timesMax} × an empty script`, times, command.timesMax)]
    },
  })
  // The first ones are those of the warm-up turns.
  const rows = table.rows.map((row, index) => ({
    ...row,
    figures: { ...row.figures, 'wall p50': quantile(rivals[index]?.walls.slice(-turns) ?? [], 0.5) },
  }))
  return { ...table, rows }
}

/** `walls` has the elapsed time of each turn. */
function contestant(name: string, work: Work) {
  const walls: number[] = []
  const turn = async () => {
    const start = performance.now()
    const processorMs = await processorTimeOf(work)
    walls.push(performance.now() - start)
    return processorMs
  }
  return { name, walls, turn }
}

/** Bash's `times` of its children, including descendants that were waited for. */
async function processorTimeOf({ args, input = '', expected }: Work): Promise<number> {
  const script = `TIMEFORMAT='%3U %3S'; time "$@"`
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, ...args], { stdio: 'pipe' })
  own(child)
  child.stdin.on('error', () => undefined).end(input)
  const [output, said] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [, user, system] = /^([\d.]+) ([\d.]+)\n$/.exec(said) ?? []
  if (output !== expected || user === undefined)
    throw new Error(`node ${args.join(' ')} printed ${output} and ${said}`)
  return (Number(user) + Number(system)) * 1000
}
