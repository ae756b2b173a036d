/** A server of the protocol for one connection or one request: its tools and its caller. */
import { McpServer } from '@modelcontextprotocol/server'
import type { CallToolResult, RequestId, ServerContext } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { type Clock, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { HostAccount } from '../../core/host-account.ts'
import type { Limits } from '../../core/limits.ts'
import type { RunRequest } from '../../core/request.ts'
import type { Lazaret } from '../../engine/api.ts'
import type { CheckedPrograms, CheckedRun } from './checked-programs.ts'
import { describeError, describeResult, describeValidation } from './describe-result.ts'
import { type Hold, heldResult } from './held-result.ts'
import { listedSchema } from './listed-schema.ts'
import { Progress } from './progress.ts'
import type { ClientSandboxes } from './sandboxes/client-sandboxes.ts'
import { registerSandboxTools } from './sandboxes/register-sandbox-tools.ts'
import * as tools from './tool-schemas.ts'

/** What all connections share. */
export interface ToolHost {
  readonly lazaret: Lazaret
  /** Validates programs before it runs them. If undefined, there is no tool for validation. */
  readonly programs?: CheckedPrograms
  /** The clients' sandboxes. If undefined, there are no tools for sandboxes. */
  readonly sandboxes?: ClientSandboxes
  /** The limits of a run that sets none. */
  readonly limits: Limits
  readonly version: string
  /** Gets errors that cannot be sent to a client. */
  readonly warn: (message: string) => void
  readonly clock?: Clock
  /** Counts what clients make the host hold. Default: an account of its own. */
  readonly account?: HostAccount
}

/** The client of a connection. */
export interface Caller {
  /** For rate limits, audit and fairness. */
  readonly client: string
  /** Another way to cancel this call, besides the protocol's own. */
  readonly follow?: (id: RequestId) => CallEnd
  /** Resolves when the bytes sent so far are on their way to the client. */
  readonly room?: () => Promise<void>
  /** Counts the bytes of the answer to a request. Throws CLIENT_QUEUE_FULL, QUEUE_FULL. */
  readonly hold?: (bytes: number, id: RequestId) => void
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
    tools.toolName,
    {
      title: 'Execute code',
      description: tools.describeTool(host.limits),
      inputSchema: listedSchema(tools.inputSchema),
      outputSchema: listedSchema(tools.outputSchema),
      // A program's effects stay in its cell, which ends with it; there is no network.
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    (args, context) => execute(host, caller, { args, context }),
  )
  const { programs, sandboxes } = host
  if (sandboxes !== undefined)
    registerSandboxTools(server, {
      sandboxes,
      client: caller.client,
      holdFor: (context) => holdFor(caller, context),
      follow: (context) => followCall(caller, context),
      refusalOf: (error) => refusalOf(error, host),
    })
  if (programs === undefined) return server
  server.registerTool(
    tools.validateToolName,
    {
      title: 'Validate code',
      description: tools.validateDescription,
      inputSchema: listedSchema(tools.validateInputSchema),
      outputSchema: listedSchema(tools.validateOutputSchema),
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    (args, context) => validate({ ...host, programs }, caller, { args, context }),
  )
  return server
}

interface Call<Args> {
  readonly args: Args
  readonly context: ServerContext
}

async function execute(
  host: ToolHost,
  caller: Caller,
  { args, context }: Call<z.infer<typeof tools.inputSchema>>,
): Promise<CallToolResult> {
  const { lazaret, programs, clock = systemClock } = host
  const { language, code, input, timeout_ms: wallMs } = args
  using end = caller.follow?.(context.mcpReq.id)
  const { signal } = context.mcpReq
  const progress = createProgress(caller, context, clock)
  try {
    const request: RunRequest = {
      language,
      code,
      ...(input !== undefined && { input }),
      ...(wallMs !== undefined && { limits: { wallMs } }),
      client: caller.client,
      signal: anyOf(signal, end),
      ...(progress !== undefined && {
        onOutput: async ({ stream, text }: { stream: string; text: string }) => {
          if (stream === 'stdout') await progress.push(text)
        },
      }),
    }
    const checked = await (programs?.run(request) ?? runUnread(lazaret, request))
    await progress?.end()
    return heldResult(holdFor(caller, context), describeResult(checked.result, checked.validation))
  } catch (error) {
    return describeError(refusalOf(error, host))
  }
}

async function runUnread(lazaret: Lazaret, request: RunRequest): Promise<CheckedRun> {
  return { result: await lazaret.run(request) }
}

async function validate(
  host: ToolHost & { readonly programs: CheckedPrograms },
  caller: Caller,
  { args, context }: Call<z.infer<typeof tools.validateInputSchema>>,
): Promise<CallToolResult> {
  using end = caller.follow?.(context.mcpReq.id)
  const asking = { client: caller.client, signal: anyOf(context.mcpReq.signal, end) }
  try {
    return heldResult(
      holdFor(caller, context),
      describeValidation(await host.programs.validate(args.code, args.language, asking)),
    )
  } catch (error) {
    // Without data, because a refusal's data does not match the schema of a validation.
    const { content } = describeError(refusalOf(error, host))
    return { content, isError: true }
  }
}

function holdFor(caller: Caller, { mcpReq }: ServerContext): Hold {
  return (bytes) => caller.hold?.(bytes, mcpReq.id)
}

function followCall(caller: Caller, { mcpReq }: ServerContext): CallEnd {
  const end = caller.follow?.(mcpReq.id)
  return { signal: anyOf(mcpReq.signal, end), [Symbol.dispose]: () => end?.[Symbol.dispose]() }
}

function anyOf(signal: AbortSignal, end: CallEnd | undefined): AbortSignal {
  return end === undefined ? signal : AbortSignal.any([signal, end.signal])
}

/** Reports to the operator errors whose details clients may not see. */
function refusalOf(error: unknown, { warn }: ToolHost): LazaretError {
  if (error instanceof LazaretError) return error
  warn(`a call failed: ${String(error)}`)
  return new LazaretError('CELL_FAILED')
}

/** Common clients use numbers. Every notification repeats the token, so its length is bounded. */
const progressTokenLengthMax = 256

/** Only for a client that requested progress. */
function createProgress(caller: Caller, { mcpReq }: ServerContext, clock: Clock): Progress | undefined {
  const { _meta: { progressToken: token } = {} } = mcpReq
  if (token === undefined || String(token).length > progressTokenLengthMax) return undefined
  return new Progress(async (progress, message) => {
    await caller.room?.()
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken: token, progress, message },
    })
  }, clock)
}
