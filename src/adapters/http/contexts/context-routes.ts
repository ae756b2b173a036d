/** Code contexts of a sandbox over HTTP: created, listed, given code, interrupted, restarted, deleted. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { CodeContext } from '../../../sandbox/contexts/context-types.ts'
import { codeEvents } from '../event-schemas.ts'
import type { Exchange } from '../exchange.ts'
import type { Api, Route } from '../routes/routes.ts'
import { invalid } from '../routes/run-routes.ts'
import { sandboxOf } from '../routes/sandbox-routes.ts'
import { runInContext, runInDefault } from './run-code.ts'

const scope = 'sandbox'
const all = '/v1/sandboxes/{id}/contexts'
const one = `${all}/{context}`
const events = { ...codeEvents, result: 'CodeResult' } as const

export const contextRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: all,
    scope,
    summary: 'Create a code context',
    body: 'ContextRequest',
    status: 201,
    reply: 'Context',
    serve: create,
  },
  {
    method: 'GET',
    path: all,
    scope,
    summary: 'List the code contexts',
    status: 200,
    reply: 'Contexts',
    serve: list,
  },
  {
    method: 'GET',
    path: one,
    scope,
    summary: 'Show a code context',
    status: 200,
    reply: 'Context',
    serve: look,
  },
  { method: 'DELETE', path: one, scope, summary: 'Delete a code context', status: 204, serve: remove },
  {
    method: 'POST',
    path: `${one}/run`,
    scope,
    summary: 'Run code in a code context',
    body: 'ContextRunRequest',
    status: 200,
    reply: 'CodeResult',
    events,
    serve: (exchange, api) => runInContext(exchange, api, contextOf(exchange, api)),
  },
  {
    method: 'POST',
    path: `${one}/interrupt`,
    scope,
    isOfOpenWork: true,
    summary: 'Interrupt its running code, and keep its state',
    status: 200,
    reply: 'Interrupted',
    serve: interrupt,
  },
  {
    method: 'POST',
    path: `${one}/complete`,
    scope,
    summary: 'Complete the name at the end of a text',
    body: 'CompleteRequest',
    status: 200,
    reply: 'Completed',
    serve: complete,
  },
  {
    method: 'POST',
    path: `${one}/fork`,
    scope,
    summary: 'Fork it: a second context with the same state; Python only',
    body: 'ForkRequest',
    status: 201,
    reply: 'Context',
    serve: fork,
  },
  {
    method: 'POST',
    path: `${one}/restart`,
    scope,
    summary: 'Restart it, without its state',
    status: 204,
    serve: restart,
  },
  {
    method: 'POST',
    path: '/v1/sandboxes/{id}/code',
    scope,
    summary: 'Run code in the context that the sandbox keeps for a language',
    body: 'CodeRequest',
    status: 200,
    reply: 'CodeResult',
    events,
    serve: runInDefault,
  },
]

/** Throws NOT_FOUND for another's sandbox, CONTEXT_GONE for a context that its own does not have. */
function contextOf(exchange: Exchange, api: Api): CodeContext {
  const found = sandboxOf(exchange, api).getCodeContext(exchange.param('context'))
  if (found === undefined) throw new LazaretError('CONTEXT_GONE')
  return found
}

async function create(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { functions, ...options } = await exchange.readJson()
  if (functions !== undefined) throw invalid('functions: contexts over HTTP have none')
  await replyMade(exchange, await sandbox.createCodeContext(options))
}

async function fork(exchange: Exchange, api: Api): Promise<void> {
  const context = contextOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  await replyMade(exchange, await context.fork(await exchange.readJson()))
}

async function replyMade(exchange: Exchange, context: CodeContext): Promise<void> {
  const of = encodeURIComponent(exchange.param('id'))
  const location = `/v1/sandboxes/${of}/contexts/${encodeURIComponent(context.id)}`
  await exchange.reply(201, describe(context), { location })
}

async function list(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, { contexts: sandboxOf(exchange, api).listCodeContexts().map(describe) })
}

async function look(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, describe(contextOf(exchange, api)))
}

async function remove(exchange: Exchange, api: Api): Promise<void> {
  const isDeleted = await sandboxOf(exchange, api).deleteCodeContext(exchange.param('context'))
  if (!isDeleted) throw new LazaretError('CONTEXT_GONE')
  await exchange.reply(204)
}

async function interrupt(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, { interrupted: await contextOf(exchange, api).interrupt() })
}

async function complete(exchange: Exchange, api: Api): Promise<void> {
  const context = contextOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { text, ...others } = await exchange.readJson()
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw invalid(`unknown key ${JSON.stringify(unknown.slice(0, 100))}; known keys: text`)
  await exchange.reply(200, { matches: await context.complete(text as string) })
}

async function restart(exchange: Exchange, api: Api): Promise<void> {
  const context = contextOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  await context.restart()
  await exchange.reply(204)
}

function describe({ id, language, cwd, status }: CodeContext): object {
  return { id, language, cwd, status }
}
