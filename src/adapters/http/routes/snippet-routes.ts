/** `POST /v1/snippet` and `/v1/code-execution`: the snippet tool and the service, their JSON unchanged. */
import type { CodeExecutionParams } from '../../code-execution/types.ts'
import type { SnippetRequest } from '../../snippet-tool/snippet-types.ts'
import type { Exchange } from '../exchange.ts'
import type { Api, Route } from './routes.ts'
import { invalid } from './run-routes.ts'

export const snippetRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/snippet',
    scope: 'run',
    summary: 'Run a snippet: JavaScript that only computes',
    body: 'SnippetRequest',
    status: 200,
    reply: 'SnippetResult',
    serve: snippet,
  },
  {
    method: 'POST',
    path: '/v1/code-execution',
    scope: 'run',
    summary: 'Run a program in a V8 isolate: `inputData` in, `output` out',
    body: 'CodeExecutionRequest',
    status: 200,
    reply: 'CodeExecutionResult',
    serve: executeCode,
  },
]

async function snippet(exchange: Exchange, { quotas }: Api): Promise<void> {
  using turn = quotas.begin(exchange.token)
  void turn
  const request = await exchange.readJson()
  const { runSnippet } = await import('../../snippet-tool/run-snippet.ts')
  const options = { client: exchange.token.name, signal: exchange.signal }
  await exchange.reply(200, await runSnippet(request as unknown as SnippetRequest, options))
}

/** Runs in the isolates of this server's engine, under its policy. */
async function executeCode(exchange: Exchange, { engine, quotas }: Api): Promise<void> {
  using turn = quotas.begin(exchange.token)
  void turn
  const { client, signal, bridge, ...params } = await exchange.readJson()
  if (client !== undefined) throw invalid('client: it is the name of the token')
  if (signal !== undefined || bridge !== undefined)
    throw invalid('signal and bridge: are for callers in the same process')
  const { executeIn } = await import('../../code-execution/perform.ts')
  const own = { client: exchange.token.name, signal: exchange.signal }
  await exchange.reply(
    200,
    await executeIn(engine, { ...(params as unknown as CodeExecutionParams), ...own }),
  )
}
