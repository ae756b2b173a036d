/**
 * Breaker, rate and queue through each door: the text of each refusal, their order, recovery, and that no client is
 * refused because of another. The test finds the doors in the package's `exports` and commands, so a new one fails here
 * until it has a row.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { WorkerCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { createAgentExecutor, SubprocessExecutor } from '../../../src/adapters/agent/index.ts'
import { createProgram } from '../../../src/adapters/cli/program.ts'
import { CodeExecutionService, WorkerPool } from '../../../src/adapters/code-execution/index.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { parseTokens } from '../../../src/adapters/http/bearer-tokens.ts'
import { runSnippet, snippetTool } from '../../../src/adapters/snippet-tool/index.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { createLazaret } from '../../../src/index.ts'
import type { Lazaret, LazaretOptions } from '../../../src/index.ts'
import { serveHere, tokenOf } from '../../adapters/http/serve-here.ts'
import { connect } from '../../adapters/mcp/connect.ts'
import { eventually } from '../../support/eventually.ts'
import { exportsWithoutWork, listExports } from '../../support/sources/package-exports.ts'

/** A clock with real timers, whose time can be set forward. */
class SkippingClock implements Clock {
  #skippedMs = 0
  readonly timestamp = () => systemClock.timestamp()
  readonly after = (ms: number, callback: () => void) => systemClock.after(ms, callback)
  readonly every = (ms: number, callback: () => void) => systemClock.every(ms, callback)
  readonly id = () => systemClock.id()

  now(): number {
    return systemClock.now() + this.#skippedMs
  }

  skip(ms: number): void {
    this.#skippedMs += ms
  }
}

interface OpenDoor extends AsyncDisposable {
  /** Executes something through this door, and resolves with the refusal or undefined. */
  readonly ask: (client?: string) => Promise<string | undefined>
  /** Executes something that exceeds its time, for the same client. */
  readonly spin: () => Promise<unknown>
  /** Executes something for another client, until the signal is aborted. */
  readonly hold?: (signal: AbortSignal) => Promise<unknown>
  /** The Lazaret that executes it. */
  readonly lazaret?: Lazaret
}

interface Door {
  readonly open: (options: LazaretOptions) => OpenDoor | Promise<OpenDoor>
  /** Whether callers name the client; otherwise all of them are one client. */
  readonly hasClients?: boolean
}

const quiet = { onEvent: () => undefined }
const program = { code: '1', language: 'javascript' } as const
const endless = { code: 'for (;;);', language: 'javascript', timeoutSeconds: 0.1 } as const
const snippet = { source: 'emit(1)' }

const thrown = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: Error) => error.message,
  )
/** Of doors that answer with a text. */
const errorOf = async (work: Promise<{ readonly error?: string | undefined }>) => (await work).error

interface OnLazaret {
  /** The client that it names. */
  readonly client?: string
  /** Whether it has a fixed number of workers, so that its executions take no place. */
  readonly hasOwnWorkers?: boolean
}

/** A door on a given Lazaret. */
function on(
  make: (lazaret: Lazaret) => OpenDoor['ask'],
  { client, hasOwnWorkers = false }: OnLazaret = {},
): (options: LazaretOptions) => OpenDoor {
  return (options) => {
    const lazaret = createLazaret({ ...quiet, ...options })
    const sleeping = { language: 'shell', code: 'sleep 9' } as const
    const hold = (signal: AbortSignal) => lazaret.run({ ...sleeping, client: 'other', signal })
    return {
      ask: make(lazaret),
      spin: () =>
        lazaret.run({ ...sleeping, limits: { wallMs: 20 }, ...(client !== undefined && { client }) }),
      ...(!hasOwnWorkers && { hold, lazaret }),
      [Symbol.asyncDispose]: () => lazaret[Symbol.asyncDispose](),
    }
  }
}

const library: Door = {
  hasClients: true,
  open: on(
    (lazaret) =>
      (client = 'ada') =>
        thrown(lazaret.run({ language: 'shell', code: ':', client })),
    { client: 'ada' },
  ),
}

const service = (Kind: typeof WorkerPool | typeof CodeExecutionService): Door => ({
  hasClients: true,
  open: (options) => {
    const own = new Kind({ engine: { ...quiet, ...options } })
    return {
      ask: (client = 'ada') => errorOf(own.execute({ ...program, client })),
      spin: () => own.execute({ ...endless, client: 'ada' }),
      [Symbol.asyncDispose]: () => own.shutdown(),
    }
  },
})

const actor = (Kind: typeof SubprocessCodeExecutionActor | typeof WorkerCodeExecutionActor) =>
  on(
    (lazaret) => {
      const own = new Kind(new MessageRouter(), 5000, { lazaret })
      return () => errorOf(own.receive({ type: 'execute', payload: { code: '1' } }))
    },
    { hasOwnWorkers: Kind === WorkerCodeExecutionActor },
  )

/** By exported name. */
const doors: Readonly<Record<string, Door | string>> = {
  createLazaret: library,
  SubprocessCodeExecutionActor: { open: actor(SubprocessCodeExecutionActor) },
  WorkerCodeExecutionActor: { open: actor(WorkerCodeExecutionActor) },
  runSnippet: { open: on(() => () => thrown(runSnippet(snippet)), { hasOwnWorkers: true }) },
  snippetTool: { open: on(() => () => thrown(snippetTool.run(snippet)), { hasOwnWorkers: true }) },
  CodeExecutionService: service(CodeExecutionService),
  WorkerPool: service(WorkerPool),
  SubprocessExecutor: {
    open: on((lazaret) => () => thrown(new SubprocessExecutor({ lazaret }).execute(program))),
  },
  InputValidator: 'passes on what its Lazaret refuses; the first text takes two runs, so that numbers differ',
  createAgentExecutor: {
    hasClients: true,
    open: ({ clock, breaker, rate, queue }) => {
      const lazaret = createLazaret(quiet)
      const layers = { ...(breaker && { breaker }), ...(rate && { rate }), ...(queue && { queue }) }
      const agent = createAgentExecutor(lazaret, { ...layers, ...(clock && { clock }), retry: false })
      const execute = (client: string, more: object) =>
        agent.execute({ ...program, clientId: client, ...more })
      return {
        ask: (client = 'ada') => errorOf(execute(client, {})),
        spin: () => execute('ada', endless),
        hold: (signal) => execute('other', { ...endless, timeoutSeconds: 30, signal }),
        lazaret,
        [Symbol.asyncDispose]: async () => {
          await agent[Symbol.asyncDispose]()
          await lazaret[Symbol.asyncDispose]()
        },
      }
    },
  },
}

const token = (name: string) => `${name}-0123456789abcdef`

/**
 * By command. A text says why a command has no row: it starts no work for a client, or its process does only one piece
 * of work.
 */
const commands: Readonly<Record<string, Door | string>> = {
  mcp: {
    hasClients: true,
    open: async (options) => {
      const lazaret = createLazaret({ ...quiet, ...options })
      const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
      const tokens = parseTokens(['ada', 'bob', 'other'].map((name) => `${name}:${token(name)}`).join('\n'))
      const http = await serveOverHttp({ host, port: 0, tokens })
      const execute = async (client: string, args: object, signal?: AbortSignal) => {
        await using connection = await connect('modern', { url: http.url, token: token(client) })
        const asked = { language: 'shell', code: ':', ...args }
        return await connection.execute(asked, signal === undefined ? {} : { signal })
      }
      return {
        ask: async (client = 'ada') => {
          const { structuredContent } = await execute(client, {})
          return (structuredContent?.['error'] as { message: string } | undefined)?.message
        },
        spin: () => execute('ada', { code: 'sleep 9', timeout_ms: 20 }),
        hold: (signal) => execute('other', { code: 'sleep 9' }, signal),
        lazaret,
        [Symbol.asyncDispose]: async () => {
          await http[Symbol.asyncDispose]()
          await lazaret[Symbol.asyncDispose]()
        },
      }
    },
  },
  serve: {
    hasClients: true,
    open: async (options) => {
      const here = await serveHere({
        engine: { ...quiet, ...options },
        tokens: ['ada', 'bob', 'other'].map((name) => tokenOf(name, token(name))),
      })
      const run = async (client: string, more: object, signal?: AbortSignal) => {
        const response = await fetch(`${here.url}/v1/run`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token(client)}`, 'content-type': 'application/json' },
          body: JSON.stringify({ language: 'shell', code: ':', ...more }),
          signal: signal ?? null,
        })
        return (await response.json()) as { readonly detail?: string }
      }
      return {
        ask: async (client = 'ada') => (await run(client, {})).detail,
        spin: () => run('ada', { code: 'sleep 9', limits: { wallMs: 20 } }),
        hold: (signal) => run('other', { code: 'sleep 9' }, signal),
        lazaret: here.engine.lazaret,
        [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
      }
    },
  },
  run: 'a Lazaret for one run: nothing came before it, and nothing runs beside it',
  exec: 'a Lazaret for one command',
  snippet: 'a thread for one snippet',
  doctor: 'looks at the machine',
  audit: 'looks at a log',
  receipt: 'looks at a receipt',
  keys: 'makes keys',
  env: 'makes environments in sandboxes, which have rows',
  repl: 'runs code in a code context, which has a row as a sandbox has',
  token: 'makes tokens',
}

const rows = [...Object.entries(doors), ...Object.entries(commands)].flatMap(([name, door]) =>
  typeof door === 'string' ? [] : [{ name, ...door }],
)

test('every export and every command has a row, or starts no work', async () => {
  const { warmUpSnippets, ...free } = { warmUpSnippets: 'begins no execution', ...exportsWithoutWork }
  const named = [...Object.keys(doors), 'warmUpSnippets', ...Object.keys(free)]
  // It starts no work itself, but its methods have rows.
  assert.deepEqual(await listExports(), [...new Set(named)].toSorted(), warmUpSnippets)
  const context = { perform: () => undefined } as unknown as Parameters<typeof createProgram>[0]
  const found = createProgram(context).commands.map((command) => command.name())
  assert.deepEqual(found.toSorted(), Object.keys(commands).toSorted())
})

const turnsMax = 1000
const breakerText = 'Code execution temporarily disabled due to high error rate'
const rateText = 'Rate limit exceeded. Maximum 5 executions per minute.'
const queueText = 'Execution queue full. Please retry in a few seconds.'

for (const { name, open, hasClients = false } of rows)
  describe(name, () => {
    test('refuses by the breaker first, then by the rate, and allows one trial after the cool-down', async () => {
      const clock = new SkippingClock()
      const options = { clock, breaker: { resultsMin: 3 }, rate: { perMinute: 5 } }
      await using door = await open(options)
      for (let times = 0; times < 3; times++) await door.spin()
      for (let times = 0; times < 5; times++) startsWith(await door.ask(), breakerText)
      if (hasClients) assert.equal(await door.ask('bob'), undefined)
      clock.skip(30_000)
      // Refused executions do not count: three have begun, so these are the fourth and the fifth.
      assert.equal(await door.ask(), undefined)
      assert.equal(await door.ask(), undefined)
      startsWith(await door.ask(), rateText)
      if (hasClients) assert.equal(await door.ask('bob'), undefined)
      clock.skip(30_000)
      assert.equal(await door.ask(), undefined)
    })

    test('refuses by the queue, and refused requests do not count towards the rate', async (context) => {
      await using door = await open({
        queue: { runningMax: 1, waitingMax: 0 },
        rate: { perMinute: 5 },
        breaker: {},
      })
      const { hold, lazaret } = door
      if (hold === undefined) {
        context.diagnostic('it has a fixed number of workers, and takes no place')
        return
      }
      const abort = new AbortController()
      const held = hold(abort.signal).catch(() => undefined)
      await eventually(() => (lazaret?.stats().running === 1 ? undefined : 'it does not run'), 10_000)
      for (let times = 0; times < 6; times++) startsWith(await door.ask('bob'), queueText)
      abort.abort()
      await held
      // Its place becomes free when its cell has ended, which may be after the answer.
      await eventually(() => (lazaret?.stats().running === 0 ? undefined : 'it still runs'), 10_000)
      let refused = await door.ask('bob')
      for (let turns = 0; turns < turnsMax && refused?.startsWith(queueText) === true; turns++) {
        await pause(10)
        refused = await door.ask('bob')
      }
      assert.equal(refused, undefined)
    })
  })

function startsWith(text: string | undefined, expected: string): void {
  assert.equal(text?.slice(0, expected.length), expected)
}
