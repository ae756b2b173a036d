/** A working day in a minute: many runs of every kind at once, each with its own right end, and nothing left of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RunRequest, RunResult } from '../src/index.ts'
import { bun, python, shell, useLazaret } from '../test/support/use-lazaret.ts'

const runs = 600
const inFlight = 8
/** Warms up what is made once: compiled code, pools of buffers, and the 50 MiB that V8 keeps for young objects. */
const warmUpRuns = 600
const residentGrowthMax = 20 * 1024 * 1024

const outputBytes = 64 * 1024
const wallMs = 400

interface Case {
  readonly name: string
  readonly request: RunRequest
  readonly isRight: (result: RunResult, index: number) => boolean
}

const languages = [
  {
    runtime: shell,
    value: (n: number) => `echo ${n}`,
    error: 'exit 3',
    hang: 'sleep 100',
    flood: 'while :; do echo flood flood flood flood; done',
  },
  {
    runtime: python,
    value: (n: number) => `print(${n})`,
    error: 'raise SystemExit(3)',
    hang: 'import time; time.sleep(100)',
    flood: 'while True: print("flood flood flood flood")',
  },
  {
    runtime: bun,
    value: (n: number) => `console.log(${n})`,
    error: 'process.exit(3)',
    hang: 'await new Promise((resolve) => setTimeout(resolve, 100_000))',
    flood: 'for (;;) console.log("flood flood flood flood")',
  },
]

const ready = {
  shell: 'echo ready; ',
  python: 'print("ready", flush=True); ',
  javascript: 'console.log("ready"); ',
}

/** The five kinds of ends in three languages, in turn. */
function caseOf(index: number): Case {
  const language = languages[index % languages.length] ?? languages[0]
  assert.ok(language !== undefined)
  const { runtime, value, error, hang, flood } = language
  const kinds: Case[] = [
    {
      name: 'value',
      request: { ...runtime, code: value(index) },
      isRight: ({ outcome, stdout }) => outcome.kind === 'completed' && stdout === `${index}\n`,
    },
    {
      name: 'error',
      request: { ...runtime, code: error },
      isRight: ({ outcome }) => 'exitCode' in outcome && outcome.exitCode === 3,
    },
    {
      name: 'timeout',
      request: { ...runtime, code: hang, limits: { wallMs } },
      isRight: ({ outcome }) => outcome.kind === 'timed-out' && outcome.limitMs === wallMs,
    },
    {
      name: 'cancel',
      request: cancelWhenReady({ ...runtime, code: `${ready[runtime.language]}${hang}` }),
      isRight: ({ outcome, stdout }) => outcome.kind === 'cancelled' && stdout === 'ready\n',
    },
    {
      name: 'flood',
      request: { ...runtime, code: flood, limits: { outputBytes } },
      isRight: ({ outcome, stdout }) =>
        outcome.kind === 'limit-exceeded' &&
        outcome.limit === 'output' &&
        Buffer.byteLength(stdout) === outputBytes,
    },
  ]
  const kind = kinds[Math.floor(index / languages.length) % kinds.length]
  assert.ok(kind !== undefined)
  return { ...kind, name: `${index}: ${runtime.runtime} ${kind.name}` }
}

function cancelWhenReady(request: RunRequest): RunRequest {
  const controller = new AbortController()
  return { ...request, signal: controller.signal, onOutput: () => controller.abort() }
}

const guests = await useLazaret()

test(`${runs} runs of all kinds, ${inFlight} at a time, each end as they should`, async (context) => {
  const wrong: string[] = []
  const runAll = async (first: number, end: number): Promise<void> => {
    let next = first
    const runOnAndOn = async (): Promise<void> => {
      while (next < end) {
        const index = next++
        const { name, request, isRight } = caseOf(index)
        const result = await guests.run(request)
        if (!isRight(result, index))
          wrong.push(`${name}: ${JSON.stringify({ ...result, displays: 0 }).slice(0, 600)}`)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, runOnAndOn))
  }
  await runAll(0, warmUpRuns)
  const before = residentBytes()
  await runAll(warmUpRuns, warmUpRuns + runs)
  const growth = residentBytes() - before
  assert.deepEqual(wrong, [])
  context.diagnostic(`resident memory grew by ${Math.round(growth / 1024)} KiB`)
  assert.ok(growth <= residentGrowthMax, `${growth} bytes`)
})

/** After a full collection, so that it says what is held and not what waits to be swept. */
function residentBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage.rss()
}
