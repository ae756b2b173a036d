/** The common MCP clients, on both transports, behind one interface. */
import { Client as Client2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { mainPath } from '../cli/spawn-cli.ts'

export const clientKinds = ['modern', 'legacy', 'v1'] as const
export type ClientKind = (typeof clientKinds)[number]

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void
}

export interface ToolResult {
  readonly content: readonly {
    type: string
    text?: string
    data?: string
    mimeType?: string
    uri?: string
    name?: string
  }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

export interface Connection extends AsyncDisposable {
  readonly listTools: () => Promise<{ tools: readonly Record<string, unknown>[] }>
  readonly execute: (args: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>
  readonly validate: (args: Record<string, unknown>) => Promise<ToolResult>
  readonly call: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>
  /** Reads a resource. */
  readonly read: (uri: string) => Promise<readonly Record<string, unknown>[]>
  /** The pid of the server's process, over stdio. */
  readonly pid: () => number | null
}

const info = { name: 'test', version: '1.0.0' }

export interface Place {
  /** Absent for stdio. */
  readonly url?: string
  readonly token?: string
  /** Arguments of the command, over stdio. */
  readonly args?: readonly string[]
}

export async function connect(
  kind: ClientKind,
  { url, token, args: more = [] }: Place = {},
): Promise<Connection> {
  const server = { command: process.execPath, args: [mainPath, 'mcp', ...more], stderr: 'inherit' as const }
  const http = token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } }
  if (kind === 'v1') {
    const client = new Client1(info)
    const stdio = new StdioClientTransport1(server)
    // Its types do not support `exactOptionalPropertyTypes`.
    const transport =
      url === undefined ? stdio : (new StreamableHTTPClientTransport1(new URL(url), http) as never)
    await client.connect(transport)
    return {
      listTools: () => client.listTools(),
      execute: (args, options) =>
        client.callTool({ name: 'execute_code', arguments: args }, undefined, options) as Promise<ToolResult>,
      validate: (args) => client.callTool({ name: 'validate_code', arguments: args }) as Promise<ToolResult>,
      call: (name, args = {}, options) =>
        client.callTool({ name, arguments: args }, undefined, options) as Promise<ToolResult>,
      read: async (uri) => (await client.readResource({ uri })).contents,
      pid: () => stdio.pid,
      [Symbol.asyncDispose]: () => client.close(),
    }
  }
  const mode = kind === 'modern' ? { pin: '2026-07-28' } : 'legacy'
  const client = new Client2(info, { versionNegotiation: { mode } })
  const stdio = new StdioClientTransport(server)
  await client.connect(url === undefined ? stdio : new StreamableHTTPClientTransport(new URL(url), http))
  return {
    listTools: () => client.listTools(),
    execute: (args, options) =>
      client.callTool({ name: 'execute_code', arguments: args }, options) as Promise<ToolResult>,
    validate: (args) => client.callTool({ name: 'validate_code', arguments: args }) as Promise<ToolResult>,
    call: (name, args = {}, options) =>
      client.callTool({ name, arguments: args }, options) as Promise<ToolResult>,
    read: async (uri) => (await client.readResource({ uri })).contents,
    pid: () => stdio.pid,
    [Symbol.asyncDispose]: () => client.close(),
  }
}
