/** Runs a program in each way. A way makes sure that the run really went that way. */
import assert from 'node:assert/strict'

import { connectLazaret } from '../../src/adapters/client/index.ts'
import { describeResult } from '../../src/adapters/mcp/describe-result.ts'
import { serveOverHttp } from '../../src/adapters/mcp/serve-http.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import { LazaretError } from '../../src/index.ts'
import type { Lazaret, LazaretOptions, RunResult } from '../../src/index.ts'
import { canBeParked } from '../../src/pool/shape.ts'
import { bunRuntime } from '../../src/runtimes/bun/host.ts'
import { nodeRuntime } from '../../src/runtimes/node/host.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { pythonRuntime } from '../../src/runtimes/python/host.ts'
import { shellRuntime } from '../../src/runtimes/shell/host.ts'
import { adaToken, serveHere } from '../adapters/http/serve-here.ts'
import { connect } from '../adapters/mcp/connect.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { plainIdentity } from '../support/hosts/outside.ts'
import { findPythonWith } from '../support/machine/find-python.ts'
import { runParked } from '../support/run-parked.ts'
import { noPools } from '../support/use-lazaret.ts'
import { canRunPlainly, runPlainly } from './plain.ts'
import type { Interpreters } from './plain.ts'
import type { Program, Way } from './program.ts'
import { seenIn } from './seen.ts'
import type { Seen } from './seen.ts'

const runtimes = { python: pythonRuntime, bun: bunRuntime, node: nodeRuntime, shell: shellRuntime }
const noForks = Object.fromEntries(Object.keys(runtimes).map((name) => [name, { forks: false }]))

export interface Ways extends AsyncDisposable {
  /** The cold start, as the result that the other ways should have. */
  readonly runCold: (program: Program) => Promise<Seen>
  /** Undefined if the program cannot run in this way, for example because a context has no standard input. */
  readonly run: (program: Program, way: Way) => Promise<Seen | undefined>
}

export async function openWays(): Promise<Ways> {
  // Guests and the plain user have the same Python.
  const python = findPythonWith(['json'], plainIdentity)?.path
  const options: LazaretOptions = { ...(python !== undefined && { toolchains: { python } }) }
  const own = new Toolchains()
  const interpreters: Interpreters = {
    ...(python !== undefined && { python }),
    bun: own.bun() ?? '',
    node: own.node() ?? '',
    shell: own.shell() ?? '',
  }
  await using stack = new AsyncDisposableStack()
  const open = (pools: LazaretOptions['pools']): Lazaret =>
    stack.use(createLazaret({ ...options, ...(pools && { pools }) }))
  const cold = open(noPools)
  const runWarm = { parked: runParked(open(noForks)), forked: runParked(open({})) }
  const server = stack.use(await serveHere({ engine: options }))
  const remote = connectLazaret({ url: server.url, token: adaToken })
  const host = { lazaret: open({}), limits: defaultLimits, version: '0', warn: () => undefined }
  const service = stack.use(await serveOverHttp({ host, port: 0 }))
  const model = stack.use(await connect('modern', service))
  const inContexts = open({})

  const entries: Readonly<Record<Way, (program: Program) => Promise<Seen> | undefined>> = {
    parked: (program) => (isWarmable(program) ? warm(program, 'parked') : undefined),
    forked: (program) => (isWarmable(program) ? warm(program, 'forked') : undefined),
    http: ({ request }) => seenOf(remote.run(request)),
    context: (program) => (fitsContext(program) ? runInContext(inContexts, program) : undefined),
    mcp: (program) => (fitsTool(program) ? askModel(program) : undefined),
    plain: (program) =>
      canRunPlainly(program, interpreters) ? runPlainly(program, interpreters) : undefined,
  }

  async function warm(program: Program, start: 'parked' | 'forked'): Promise<Seen> {
    return seenOf(
      runWarm[start](program.request).then((result) => {
        // Shells that share a view are parked in it.
        assert.equal(result.receipt.start, program.engine === 'shell' ? 'parked' : start)
        return result
      }),
    )
  }

  async function askModel({ request: { language, code, input } }: Program): Promise<Seen> {
    const asked = { language, code, ...(input !== undefined && { input }), timeout_ms: 60_000 }
    const { structuredContent, content } = await model.execute(asked)
    return { answer: answerOf({ ...(structuredContent && { structuredContent }), content }) }
  }

  const kept = stack.move()
  return {
    async runCold(program) {
      const settled = await settle(cold.run(program.request))
      if (!('receipt' in settled)) return settled
      assert.equal(settled.receipt.start, 'cold')
      return { ...seenIn(settled), answer: answerOf(describeResult(settled) as ToolAnswer) }
    },
    run: async (program, way) => entries[way](program),
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  }
}

function isWarmable({ engine, request }: Program): boolean {
  return canBeParked(request, runtimes[engine])
}

/** A piece of a context has no standard input, arguments or input of its own, and JavaScript runs in Node. */
function fitsContext({ engine, request }: Program): boolean {
  const { stdin, args, input } = request
  return (
    (engine === 'python' || engine === 'node') &&
    stdin === undefined &&
    args === undefined &&
    input === undefined
  )
}

/** The tool takes code and an input of JSON, and chooses the engine. */
function fitsTool({ engine, request }: Program): boolean {
  const { stdin, args, env, files, collect, input } = request
  const hasMore = [stdin, args, env, files, collect].some((one) => one !== undefined)
  return engine !== 'node' && !hasMore && (input === undefined || isJson(input))
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson)
  if (typeof value === 'object' && value !== null)
    return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson)
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

async function runInContext(lazaret: Lazaret, { request }: Program): Promise<Seen> {
  const { code, language, files = {}, env = {} } = request
  if (language === 'shell') throw new Error('A context has no shell.')
  await using sandbox = await lazaret.sandbox({ files, env })
  const seen = await seenOf(sandbox.runCode(code, { language, timeout: 60_000 }))
  const { files: _notCollected, ...told_ } = seen
  return told_
}

async function settle(running: Promise<RunResult>): Promise<RunResult | { readonly refused: string }> {
  try {
    return await running
  } catch (error) {
    if (error instanceof LazaretError && error.kind === 'refusal') return { refused: error.code }
    throw error
  }
}

const told = (settled: RunResult | { readonly refused: string }): Seen =>
  'receipt' in settled ? seenIn(settled) : settled

async function seenOf(running: Promise<RunResult>): Promise<Seen> {
  return told(await settle(running))
}

interface ToolAnswer {
  readonly structuredContent?: Record<string, unknown>
  readonly content: unknown
}

function answerOf({ structuredContent = {}, content }: ToolAnswer): unknown {
  const { durationMs: _differs, ...data } = structuredContent
  return { data, content }
}
