/** One server of the protocol, for one connection or one request: the tool, and who calls it. */
import { McpServer } from '@modelcontextprotocol/server'
import type { CallToolResult, RequestId, ServerContext } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { type Clock, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Lazaret } from '../../engine/api.ts'
import { describeError, describeResult } from './describe-result.ts'
import { Progress } from './progress.ts'
import { describeTool, inputSchema, outputSchema, toolName } from './tool-schemas.ts'

/** What all connections share. */
export interface ToolHost {
  readonly lazaret: Lazaret
  /** Those of a run that asks for none. */
  readonly limits: Limits
  readonly version: string
  /** Hears of what no client can be told. */
  readonly warn: (message: string) => void
  readonly clock?: Clock
}

/** Who is at the other end of a connection. */
export interface Caller {
  /** For rate limits, audit and fairness. */
  readonly client: string
  /** What ends this call besides the protocol's own cancellation. */
  readonly follow?: (id: RequestId) => CallEnd
  /** Resolves when what was sent has left for the client. */
  readonly room?: () => Promise<void>
}

export interface CallEnd extends Disposable {
  readonly signal: AbortSignal
}

export function createToolServer(host: ToolHost, caller: Caller): McpServer {
  const server = new McpServer(
    { name: 'lazaret', title: 'Lazaret', version: host.version },
    { capabilities: { tools: { listChanged: false } } },
  )
  server.registerTool(
    toolName,
    {
      title: 'Execute code',
      description: describeTool(host.limits),
      inputSchema,
      outputSchema,
      // What a program does stays in its cell, which goes with it; there is no network.
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    (args, context) => execute(host, caller, { args, context }),
  )
  return server
}

interface Call {
  readonly args: z.infer<typeof inputSchema>
  readonly context: ServerContext
}

async function execute(host: ToolHost, caller: Caller, { args, context }: Call): Promise<CallToolResult> {
  const { lazaret, clock = systemClock, warn } = host
  const { language, code, input, timeout_ms: wallMs } = args
  using end = caller.follow?.(context.mcpReq.id)
  const { signal } = context.mcpReq
  const progress = createProgress(caller, context, clock)
  try {
    const result = await lazaret.run({
      language,
      code,
      ...(input !== undefined && { input }),
      ...(wallMs !== undefined && { limits: { wallMs } }),
      client: caller.client,
      signal: end === undefined ? signal : AbortSignal.any([signal, end.signal]),
      ...(progress !== undefined && {
        onOutput: async ({ stream, text }: { stream: string; text: string }) => {
          if (stream === 'stdout') await progress.push(text)
        },
      }),
    })
    await progress?.end()
    return describeResult(result)
  } catch (error) {
    if (error instanceof LazaretError) return describeError(error)
    warn(`a call failed: ${String(error)}`)
    return describeError(new LazaretError('CELL_FAILED'))
  }
}

/** Only for a client that asked to be told. */
function createProgress(caller: Caller, { mcpReq }: ServerContext, clock: Clock): Progress | undefined {
  const { _meta: { progressToken: token } = {} } = mcpReq
  if (token === undefined) return undefined
  return new Progress(async (progress, message) => {
    await caller.room?.()
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: token, progress, message },
    })
  }, clock)
}
