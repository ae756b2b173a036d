/** Snippets: in a warm thread, as a whole command, and how long after its deadline an endless one ends. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

import { QuickJS } from 'quickjs-wasi'

import { endSnippetThreads, runSnippet, warmUpSnippets } from '../../src/adapters/snippet-tool/index.ts'
import { compare, timed } from '../measure/compare.ts'
import { own, throwIfInterrupted } from '../measure/interruption.ts'
import type { BenchOptions } from '../options.ts'
import { runPlain } from '../rivals/plain.ts'
import { progress } from '../progress.ts'
import { summarize } from '../measure/statistics.ts'
import { goalAtMost } from '../table.ts'
import type { Table } from '../table.ts'

const command = join(import.meta.dirname, '../../dist/adapters/cli/main.js')
const request = { source: 'emit(read_input().toUpperCase())', input: 'hello' }
const expected = 'HELLO'
/** The same work as a program for Node. */
const script = 'process.stdout.write("hello".toUpperCase())'

const limitMs = 100
const loopsMax = 20

/** Each spends seconds in a single call of the engine's own code, which cannot be interrupted. */
const nativeLoops = [
  '"a".repeat(8e6).indexOf("a".repeat(4e6) + "b")',
  '(new Array(3e8)) + ""',
  '/(a*)*b/.test("a".repeat(40))',
  'for (;;);',
]

export async function benchSnippets({ turns }: BenchOptions): Promise<Table[]> {
  try {
    return [await compareWarm(turns), await compareCommands(turns), await measureTimeouts(turns)]
  } finally {
    await endSnippetThreads()
  }
}

async function compareWarm(turns: number): Promise<Table> {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { compile(bytes: Uint8Array): Promise<object> }
  }
  const file = fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))
  const module = await WebAssembly.compile(readFileSync(file))
  return await compare({
    title: 'one snippet, warm, to its output',
    turns,
    settle: warmUpSnippets,
    rivals: [
      { name: 'lazaret, runSnippet', turn: timed(async () => check((await runSnippet(request)).output)) },
      {
        name: 'quickjs-wasi in the calling thread, no limit holds',
        turn: timed(async () => check(await evaluateHere(module))),
      },
      {
        name: 'node:vm, no wall and no limit',
        turn: timed(async () => check(runInNewContext('"hello".toUpperCase()') as string)),
      },
      {
        name: 'Node spawn of node -e, no wall',
        turn: timed(() => runPlain(process.execPath, ['-e', script])),
      },
    ],
    goals: ([ours]) => [goalAtMost('library, warm: p50 ≤ 2.5 ms', ours?.figures['p50'] ?? Number.NaN, 2.5)],
  })
}

async function evaluateHere(module: object): Promise<string> {
  const engine = await QuickJS.create({ wasm: module })
  const text = engine.evalCode('"hello".toUpperCase()').toString()
  engine.dispose()
  return text
}

async function compareCommands(turns: number): Promise<Table> {
  return await compare({
    title: 'one snippet as a command, from its start to its end',
    turns,
    rivals: [
      { name: 'lazaret snippet', turn: timed(runCommand) },
      { name: 'node -e, no wall', turn: timed(() => runPlain(process.execPath, ['-e', script])) },
    ],
    goals: ([ours]) => [goalAtMost('command: p50 ≤ 120 ms', ours?.figures['p50'] ?? Number.NaN, 120)],
  })
}

function runCommand(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, 'snippet'], { stdio: ['pipe', 'pipe', 'inherit'] })
    own(child)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 && text === `{"output":"${expected}"}\n`
        ? resolve()
        : reject(new Error(`lazaret snippet ended with ${code} and printed ${text}`)),
    )
    child.stdin.end(JSON.stringify(request))
  })
}

async function measureTimeouts(turns: number): Promise<Table> {
  const title = `snippets that do not end, ${limitMs} ms allowed: time after the deadline`
  progress(title)
  const rows = []
  for (const source of nativeLoops) {
    const late: number[] = []
    for (let turn = 0; turn < Math.min(turns, loopsMax); turn++) {
      throwIfInterrupted()
      await warmUpSnippets()
      const start = performance.now()
      const { error } = await runSnippet({ source, limits: { wall_ms: limitMs } })
      late.push(performance.now() - start - limitMs)
      if (error?.code !== 'TIMEOUT') throw new Error(`${source} ended with ${error?.code ?? 'no error'}.`)
    }
    rows.push({ name: source, figures: { ...summarize(late), max: Math.max(...late) } })
  }
  const latest = Math.max(...rows.map(({ figures }) => figures.max))
  return {
    title,
    unit: 'ms',
    load: loadavg()[0] ?? 0,
    rows,
    goals: [goalAtMost('each answered within 50 ms of its deadline', latest, 50)],
    notes: [],
    wrong: [],
  }
}

function check(output: string | undefined): void {
  if (output !== expected) throw new Error(`A snippet gave ${output ?? 'nothing'}.`)
}
