/** `POST /v1/run` and the routes for running runs. */
import { decodeSteps } from '../../../core/values/decode-value.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { OutputChunk, RunRequest } from '../../../core/request.ts'
import { loopTurns } from '../../../runtimes/channel/loop-turns.ts'
import { codeEvents } from '../event-schemas.ts'
import type { EventStream } from '../event-stream.ts'
import type { Exchange } from '../exchange.ts'
import { requireGrants } from '../grants.ts'
import type { CallAnswer } from '../open-runs.ts'
import { readBytes, readFiles } from '../read-bytes.ts'
import type { Api, Route } from './routes.ts'

export const runRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/run',
    scope: 'run',
    summary: 'Run a program once',
    body: 'RunRequest',
    status: 200,
    reply: 'RunResult',
    events: { ...codeEvents, result: 'RunResult' },
    serve: run,
  },
  {
    method: 'DELETE',
    path: '/v1/run/{id}',
    scope: 'any',
    isOfOpenWork: true,
    summary: 'Cancel a running run or command; its result says so',
    status: 204,
    serve: cancel,
  },
  {
    method: 'POST',
    path: '/v1/run/{id}/calls/{call}',
    scope: 'run',
    isOfOpenWork: true,
    summary: 'Answer a function call',
    body: 'CallAnswer',
    status: 204,
    serve: answer,
  },
]

async function run(exchange: Exchange, { engine, quotas, runs }: Api): Promise<void> {
  const { token, events, wantsEvents, parts } = exchange
  using turn = quotas.begin(token)
  void turn
  using open = runs.open(token, parts.id)
  const { functions, isAborted, request } = await readRun(await exchange.readJson())
  requireGrants(token, request)
  if (functions !== undefined && !wantsEvents)
    throw invalid('functions: their calls are events; ask for text/event-stream')
  const result = await engine.runAfter(
    {
      ...(request as unknown as RunRequest),
      client: token.name,
      signal: isAborted ? AbortSignal.abort() : AbortSignal.any([exchange.signal, open.signal]),
      ...(functions !== undefined && {
        functions: open.functions(functions, (call) => events.sendJson('call', call)),
      }),
      ...(wantsEvents && listenersOf(events)),
    },
    async () => {
      if (wantsEvents) await events.send('started', { id: parts.id })
      return undefined
    },
  )
  if (!wantsEvents) {
    await exchange.reply(200, result)
    return
  }
  await events.sendLarge('result', result)
  events.end()
}

/** Each resolves when the client has read what was sent before; until then the guest waits. */
function listenersOf(events: EventStream): Pick<RunRequest, 'onOutput' | 'onLog' | 'onDisplay' | 'onClear'> {
  return {
    onOutput: (chunk) => events.send('output', toOutputEvent(chunk)),
    onLog: (entry) => events.send('log', entry),
    onDisplay: (bundle, facts) => events.sendLarge('display', { bundle, ...facts }),
    onClear: (waits) => events.send('clear', { waits }),
  }
}

/** Includes the bytes only if the text does not represent all of them. */
export function toOutputEvent({ stream, text, bytes, atMs }: OutputChunk): object {
  const isText = Buffer.from(text).equals(bytes)
  return { stream, text, ...(!isText && { base64: Buffer.from(bytes).toString('base64') }), atMs }
}

interface AskedRun {
  /** For the engine to parse: it is not validated yet. */
  readonly request: Readonly<Record<string, unknown>>
  readonly functions: readonly string[] | undefined
  readonly isAborted: boolean
}

/** The fields whose JSON form differs from a program's; the rest goes to the engine unchanged. */
async function readRun(body: Record<string, unknown>): Promise<AskedRun> {
  const { functions, signal, inputTagged, client, files, stdin, ...rest } = body
  if (client !== undefined) throw invalid('client: it is the name of the token')
  const listener = ['onOutput', 'onLog', 'onDisplay', 'onClear'].find((name) => Object.hasOwn(rest, name))
  if (listener !== undefined) throw invalid(`${listener}: ask for text/event-stream instead`)
  if (signal !== undefined && signal !== 'aborted') throw invalid('signal: must be "aborted", or left out')
  if (inputTagged !== undefined && 'input' in rest) throw invalid('input and inputTagged: only one of them')
  if (functions !== undefined && !isTexts(functions)) throw invalid('functions: must be a list of names')
  return {
    functions,
    isAborted: signal === 'aborted',
    request: {
      ...rest,
      ...(inputTagged !== undefined && { input: await decode(inputTagged) }),
      ...(files !== undefined && { files: readFiles(files, 'files') }),
      ...(stdin !== undefined && { stdin: readBytes(stdin, 'stdin') }),
    },
  }
}

async function cancel(exchange: Exchange, { runs }: Api): Promise<void> {
  runs.find(exchange.token, exchange.param('id')).cancel()
  await exchange.reply(204)
}

async function answer(exchange: Exchange, { runs }: Api): Promise<void> {
  const open = runs.find(exchange.token, exchange.param('id'))
  const said = await readAnswer(await exchange.readJson())
  if (!open.answer(exchange.param('call'), said)) throw new LazaretError('NOT_FOUND')
  await exchange.reply(204)
}

/** The return value of a function, tagged, or the error that it threw. */
async function readAnswer({ value, error, ...others }: Record<string, unknown>): Promise<CallAnswer> {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw invalid(`unknown key ${JSON.stringify(unknown.slice(0, 100))}; known keys: value, error`)
  if (error === undefined) return { value: await decode(value) }
  const { name, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >
  if (typeof name !== 'string' || typeof message !== 'string')
    throw invalid('error: must be { name, message }')
  return { error: Object.defineProperty(new Error(message), 'name', { value: name, configurable: true }) }
}

async function decode(tagged: unknown): Promise<unknown> {
  return (await loopTurns.perform(decodeSteps(tagged))).value
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

export function invalid(detail: string): LazaretError {
  return new LazaretError('INVALID_REQUEST', { detail: `${detail}.` })
}
