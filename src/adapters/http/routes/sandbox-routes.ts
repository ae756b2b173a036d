/** Sandboxes over HTTP: created, listed, inspected, destroyed; their commands, sessions and variables. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { OutputChunk } from '../../../core/request.ts'
import type {
  ExecOptions,
  ExecResult,
  SandboxOptions,
  SandboxSession,
  Variables,
} from '../../../sandbox/types.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { commandEvents } from '../event-schemas.ts'
import type { Exchange } from '../exchange.ts'
import { requireGrants } from '../grants.ts'
import type { HeldSandbox } from '../held-sandboxes.ts'
import { readBytes, readFiles } from '../read-bytes.ts'
import type { Api, Route } from './routes.ts'
import { invalid, toOutputEvent } from './run-routes.ts'

const scope = 'sandbox'
const one = '/v1/sandboxes/{id}'

export const sandboxRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/sandboxes',
    scope,
    summary: 'Create a sandbox',
    body: 'SandboxRequest',
    status: 201,
    reply: 'Sandbox',
    serve: create,
  },
  {
    method: 'GET',
    path: '/v1/sandboxes',
    scope,
    summary: 'List the sandboxes of this token',
    status: 200,
    reply: 'Sandboxes',
    serve: list,
  },
  {
    method: 'GET',
    path: one,
    scope,
    summary: 'Show a sandbox',
    status: 200,
    reply: 'Sandbox',
    serve: look,
  },
  { method: 'DELETE', path: one, scope, summary: 'Destroy a sandbox', status: 204, serve: destroy },
  {
    method: 'POST',
    path: `${one}/exec`,
    scope,
    summary: 'Run a command line',
    body: 'ExecRequest',
    status: 200,
    reply: 'ExecResult',
    events: { ...commandEvents, result: 'ExecResult' },
    serve: exec,
  },
  {
    method: 'PUT',
    path: `${one}/variables`,
    scope,
    summary: 'Set variables for all later commands; null removes one',
    body: 'Variables',
    status: 204,
    serve: setVariables,
  },
  {
    method: 'POST',
    path: `${one}/sessions`,
    scope,
    summary: 'Create a session',
    body: 'SessionRequest',
    status: 201,
    reply: 'Session',
    serve: createSession,
  },
  {
    method: 'GET',
    path: `${one}/sessions/{session}`,
    scope,
    summary: 'Show a session',
    status: 200,
    reply: 'Session',
    serve: lookAtSession,
  },
  {
    method: 'DELETE',
    path: `${one}/sessions/{session}`,
    scope,
    summary: 'Delete a session',
    status: 204,
    serve: deleteSession,
  },
]

/** Throws NOT_FOUND for a sandbox that does not belong to the token. */
export function sandboxOf(exchange: Exchange, { sandboxes }: Api): Sandbox {
  return sandboxes.find(exchange.token, exchange.param('id')).sandbox
}

async function create(exchange: Exchange, { quotas, sandboxes }: Api): Promise<void> {
  const { token } = exchange
  using turn = quotas.begin(token)
  void turn
  const { client, files, ...rest } = await exchange.readJson()
  if (client !== undefined) throw invalid('client: it is the name of the token')
  requireGrants(token, rest)
  const asked = {
    ...rest,
    ...(files !== undefined && { files: readFiles(files, 'files') }),
  } as SandboxOptions
  const held = await sandboxes.create(token, asked)
  // A sandbox whose creator disconnected meanwhile is unknown to everyone.
  if (exchange.signal.aborted) await held.sandbox.destroy()
  await exchange.reply(201, describe(held), { location: `/v1/sandboxes/${encodeURIComponent(held.id)}` })
}

async function list(exchange: Exchange, { sandboxes }: Api): Promise<void> {
  exchange.queryOf([])
  await exchange.reply(200, { sandboxes: sandboxes.list(exchange.token).map(describe) })
}

async function look(exchange: Exchange, { sandboxes }: Api): Promise<void> {
  await exchange.reply(200, describe(sandboxes.find(exchange.token, exchange.param('id'))))
}

async function destroy(exchange: Exchange, api: Api): Promise<void> {
  await sandboxOf(exchange, api).destroy()
  await exchange.reply(204)
}

function describe({ id, sandbox: { limits, clamped, isAlive, isStuck } }: HeldSandbox): object {
  return { id, isAlive, isStuck, limits, clamped }
}

async function exec(exchange: Exchange, api: Api): Promise<void> {
  const { token, events, wantsEvents, parts } = exchange
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(token)
  void turn
  using open = api.runs.open(token, parts.id)
  const { beside = false, ...body } = await exchange.readJson()
  if (typeof beside !== 'boolean') throw invalid('beside: must be true or false')
  const { command, isAborted, options } = readCommand(body)
  const signal = isAborted ? AbortSignal.abort() : AbortSignal.any([exchange.signal, open.signal])
  if (!wantsEvents) {
    if (beside) throw invalid('beside: is for text/event-stream')
    await exchange.reply(200, await sandbox.exec(command as string, { ...options, signal }))
    return
  }
  const begin = beginLate(exchange)
  try {
    const onOutput = async (chunk: OutputChunk): Promise<void> => {
      await begin.now()
      await events.send('output', toOutputEvent(chunk))
    }
    const asked = { ...options, signal, onOutput }
    const result = beside
      ? await execBeside(sandbox, command as string, asked)
      : await sandbox.exec(command as string, asked)
    await begin.now()
    await events.sendLarge('result', result)
    events.end()
  } finally {
    begin.cancel()
  }
}

/** Runs a command concurrently with the other commands of its session. */
async function execBeside(sandbox: Sandbox, command: string, options: ExecOptions): Promise<ExecResult> {
  for await (const event of sandbox.execStream(command, options)) {
    if (event.type === 'complete') return event.result
    if (event.type === 'error') throw event.error
  }
  throw new LazaretError('INTERNAL')
}

/** Refusals are faster than this; while the reply has not begun, they can still have their own status. */
const beginMs = 250

/** Sends `started` once: with the first output, or after a while if the command is silent. */
function beginLate({ events, parts: { id, clock } }: Exchange): { now(): Promise<void>; cancel(): void } {
  let beginning: Promise<void> | undefined
  const now = (): Promise<void> => (beginning ??= events.send('started', { id }))
  const cancel = clock.after(beginMs, () => void now())
  return { now, cancel }
}

export interface AskedCommand {
  readonly command: unknown
  readonly options: ExecOptions
  readonly isAborted: boolean
}

/** Fields whose JSON form differs from a program's; the sandbox checks the rest. */
export function readCommand(body: Record<string, unknown>): AskedCommand {
  const { command, stdin, signal, onOutput, ...rest } = body
  if (onOutput !== undefined) throw invalid('onOutput: ask for text/event-stream instead')
  if (signal !== undefined && signal !== 'aborted') throw invalid('signal: must be "aborted", or left out')
  const options = { ...rest, ...(stdin !== undefined && { stdin: readBytes(stdin, 'stdin') }) }
  return { command, options, isAborted: signal === 'aborted' }
}

/** `null` removes a variable, because JSON has no `undefined`. */
async function setVariables(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  const body = await exchange.readJson()
  const entries = Object.entries(body).map(([name, value]) => [name, value ?? undefined])
  await sandbox.setEnvVars(Object.fromEntries(entries) as Variables)
  await exchange.reply(204)
}

async function createSession(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  const session = await sandbox.createSession(await exchange.readJson())
  await exchange.reply(201, describeSession(session))
}

async function lookAtSession(exchange: Exchange, api: Api): Promise<void> {
  const session = sandboxOf(exchange, api).getSession(exchange.param('session'))
  if (session === undefined) throw new LazaretError('SESSION_GONE')
  await exchange.reply(200, describeSession(session))
}

async function deleteSession(exchange: Exchange, api: Api): Promise<void> {
  const isDeleted = await sandboxOf(exchange, api).deleteSession(exchange.param('session'))
  if (!isDeleted) throw new LazaretError('SESSION_GONE')
  await exchange.reply(204)
}

function describeSession({ id, cwd }: SandboxSession): object {
  return { id, cwd }
}
