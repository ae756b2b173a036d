/** Registers the tools of sandboxes with a server: their names, and their descriptions for models. */
import { ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server'
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { LazaretError } from '../../../core/errors/errors.ts'
import { type Hold, heldResult } from '../held-result.ts'
import { listedSchema } from '../listed-schema.ts'
import { describeError } from '../describe-result.ts'
import type { ClientSandboxes } from './client-sandboxes.ts'
import { describeRefusal } from './describe-sandbox-work.ts'
import { closeContext, forkContext } from './context-calls.ts'
import { fileTemplate, readFileResource } from './file-resources.ts'
import * as calls from './sandbox-calls.ts'
import type { SandboxCall } from './sandbox-call.ts'
import * as schemas from './sandbox-schemas.ts'

export interface SandboxTools {
  readonly sandboxes: ClientSandboxes
  readonly client: string
  readonly holdFor: (context: ServerContext) => Hold
  /** What ends a call; disposed when it is over. */
  readonly follow: (context: ServerContext) => Disposable & { readonly signal: AbortSignal }
  /** The error for the client, also if `error` does not come from Lazaret. */
  readonly refusalOf: (error: unknown) => LazaretError
}

interface Tool<Input extends z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly schema: { readonly input: Input; readonly output: z.ZodType }
  readonly act: (call: SandboxCall<z.infer<Input>>) => Promise<CallToolResult>
  readonly isReadOnly?: boolean
  /** The data of a refusal. Default: those of a program. */
  readonly refused?: Readonly<Record<string, unknown>>
}

export function registerSandboxTools(server: McpServer, tools: SandboxTools): void {
  for (const tool of sandboxTools) add(server, tools, tool)
  server.registerResource(
    'file',
    // Resources are not listed: only the tools reveal which files exist.
    new ResourceTemplate(fileTemplate, { list: undefined }),
    { title: 'A file of a sandbox', description: 'At most 8 MiB.' },
    async (address, _variables, context) => {
      try {
        return await readFileResource({ ...tools, hold: tools.holdFor(context) }, address)
      } catch (error) {
        const { code, message } = tools.refusalOf(error)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${code}: ${message}`)
      }
    },
  )
}

/** Gives a tool's function the argument types of its own schema. */
const tool = <Input extends z.ZodType>(one: Tool<Input>): Tool<z.ZodType> => one

const sandboxTools: readonly Tool<z.ZodType>[] = [
  tool({
    name: 'create_sandbox',
    title: 'Create a sandbox',
    description:
      'Creates a small isolated machine that persists between calls: files in /workspace, processes, and the variables of run_code. No network. Close it with close_sandbox when you are done.',
    schema: schemas.createSandbox,
    act: calls.createSandbox,
    refused: {},
  }),
  tool({
    name: 'run_code',
    title: 'Run code in a sandbox',
    description:
      'Runs Python, JavaScript or TypeScript as in a notebook: variables, imports and functions persist until the next call. Returns the value of the last expression, displays and figures. Top-level await works.',
    schema: schemas.runCode,
    act: calls.runCode,
  }),
  tool({
    name: 'execute_command',
    title: 'Execute a command in a sandbox',
    description:
      'Runs a line of bash in a sandbox. Start servers with `&`: they keep running. Commands and run_code share files, but cannot see each other’s processes.',
    schema: schemas.executeCommand,
    act: calls.executeCommand,
  }),
  tool({
    name: 'read_file',
    title: 'Read a file of a sandbox',
    description: 'At most 1 MiB. A picture (PNG, JPEG, GIF, WebP) is returned as an image.',
    schema: schemas.readFile,
    act: calls.readFile,
    isReadOnly: true,
    refused: {},
  }),
  tool({
    name: 'write_file',
    title: 'Write a file of a sandbox',
    description: 'Creates missing folders.',
    schema: schemas.writeFile,
    act: calls.writeFile,
    refused: {},
  }),
  tool({
    name: 'list_files',
    title: 'List files of a sandbox',
    description: 'At most 1000 entries.',
    schema: schemas.listFiles,
    act: calls.listFiles,
    isReadOnly: true,
    refused: {},
  }),
  tool({
    name: 'fork_context',
    title: 'Fork a code context',
    description:
      'Creates a second set of variables as a copy of the first, in milliseconds, for example to try something and go back. Python only.',
    schema: schemas.forkContext,
    act: forkContext,
    refused: {},
  }),
  tool({
    name: 'close_context',
    title: 'Close a code context',
    description: 'Ends the interpreter of this name, with its variables. Files stay.',
    schema: schemas.closeContext,
    act: closeContext,
    refused: { isClosed: false },
  }),
  tool({
    name: 'close_sandbox',
    title: 'Close a sandbox',
    description: 'Ends everything in it and deletes its files.',
    schema: schemas.closeSandbox,
    act: calls.closeSandbox,
    refused: { isClosed: false },
  }),
]

/** Over HTTP each request of an older client has its own server, and a header with the revision. */
function revisionOf({ server }: McpServer, { http }: ServerContext): string | undefined {
  return server.getNegotiatedProtocolVersion() ?? http?.req?.headers.get('mcp-protocol-version') ?? undefined
}

function add(server: McpServer, tools: SandboxTools, one: Tool<z.ZodType>): void {
  const { name, title, description, schema, act, isReadOnly = false, refused } = one
  const { sandboxes, client, holdFor, follow, refusalOf } = tools
  const handle = async (args: unknown, context: ServerContext): Promise<CallToolResult> => {
    using end = follow(context)
    try {
      const revision = revisionOf(server, context)
      const result = await act({ sandboxes, client, args, signal: end.signal, revision })
      return heldResult(holdFor(context), result)
    } catch (error) {
      const refusal = refusalOf(error)
      return refused === undefined ? describeError(refusal) : describeRefusal(refusal, refused)
    }
  }
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: listedSchema(schema.input),
      outputSchema: listedSchema(schema.output),
      annotations: {
        readOnlyHint: isReadOnly,
        // Only in the client's own sandbox.
        destructiveHint: name.startsWith('close_'),
        idempotentHint: isReadOnly,
        openWorldHint: false,
      },
    } as never,
    handle as never,
  )
}
