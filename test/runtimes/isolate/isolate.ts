/** Programs in real isolates, in a process like the worker of a cell: a child, which all tests of a file share. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import type { IsolateProgram } from '../../../src/runtimes/isolate/inside/protocol.ts'
import { type Answer, type Ask, type Ended, libraries, type Told } from './messages.ts'

export type HostFunction = (...values: unknown[]) => unknown

export interface IsolateRun {
  readonly source: string
  readonly mode?: IsolateProgram['mode']
  readonly input?: unknown
  readonly functions?: Readonly<Record<string, HostFunction>>
  readonly maxCalls?: number
  readonly maxBytes?: number
  readonly load?: readonly string[]
  readonly libraries?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Source with `$text` in place of the inside's own source, for tests that observe the inside. */
  readonly around?: string
}

export function runIsolate(run: IsolateRun): Promise<Ended> {
  const { source, mode = 'service', input, functions = {}, maxCalls, maxBytes, load = [], around } = run
  const own = run.libraries ?? {}
  const inputJson = JSON.stringify(input)
  const program: IsolateProgram = {
    source,
    mode,
    ...(inputJson === undefined ? {} : { input: inputJson }),
    calls: Object.keys(functions),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    allowed: [...libraries, ...Object.keys(own)],
  }
  const ask = { program, load, libraries: own, timeoutMs: run.timeoutMs ?? 5000, ...(around && { around }) }
  child ??= startChild()
  return new Promise((resolve, reject) => {
    const number = ++lastRun
    runs.set(number, { resolve, reject, functions })
    child?.send({ run: number, ...ask } satisfies Ask)
  })
}

interface Waiting {
  readonly resolve: (ended: Ended) => void
  readonly reject: (reason: Error) => void
  readonly functions: Readonly<Record<string, HostFunction>>
}

const runs = new Map<number, Waiting>()
let lastRun = 0
let child: ChildProcess | undefined

after(async () => {
  if (child === undefined) return
  const isGone = new Promise((resolve) => child?.once('exit', resolve))
  child.disconnect()
  await isGone
})

function startChild(): ChildProcess {
  const started = fork(join(import.meta.dirname, 'isolate-process.ts'), {
    execArgv: ['--no-node-snapshot'],
    env: { TZ: 'UTC' },
  })
  started.on('message', (told: Told) => void hear(told))
  started.on('exit', (code, signal) => {
    for (const { reject } of runs.values()) reject(new Error(`The process ended: ${code ?? signal}`))
    runs.clear()
  })
  return started
}

async function hear(told: Told): Promise<void> {
  const waiting = runs.get(told.run)
  if (waiting === undefined) return
  if ('call' in told) return answer(told, waiting)
  runs.delete(told.run)
  if ('ended' in told) waiting.resolve(told.ended)
  else waiting.reject(new Error(told.failed))
}

async function answer(
  { call, name, args }: { readonly call: number; readonly name: string; readonly args: string },
  { functions }: Waiting,
): Promise<void> {
  let result: Answer
  try {
    const value: unknown = await functions[name]?.(...(JSON.parse(args) as unknown[]))
    result = { call, isError: false, json: JSON.stringify(value ?? null) }
  } catch (thrown) {
    const { name: errorName, message } = thrown as Error
    result = { call, isError: true, json: JSON.stringify({ name: errorName, message }) }
  }
  child?.send(result)
}
