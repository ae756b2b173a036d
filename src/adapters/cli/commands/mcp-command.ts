/** `lazaret mcp`: a server of the Model Context Protocol, for one client over stdio or for many over HTTP. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../../../core/clock.ts'
import type { Limits } from '../../../core/limits.ts'
import { validationModes } from '../../../core/validation.ts'
import type { ValidationMode } from '../../../core/validation.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { resolveLimits } from '../../../policy/resolve-limits.ts'
import type { TokenEntry } from '../../http/bearer-tokens.ts'
import { type AskedBounds, boundFlag, checkBounds, parseBound } from '../options/bound-flag.ts'
import { readFileBounded } from '../options/bounded-read.ts'
import type { CommandContext } from './command-context.ts'
import { addConfigurationOptions, type EngineFlags, resolveEngineOptions } from '../options/engine-flags.ts'
import { readPackageVersion } from '../package-version.ts'
import { requirePrivate } from '../configuration/require-private.ts'
import { describeSystemError } from '../output/system-error.ts'
import { UsageError } from '../options/usage-error.ts'

const defaultPort = 7391
/** Enough for a thousand tokens with their names. */
const tokenFileBytesMax = 1024 * 1024

/** Defaults that stop an agent in a loop before it exhausts the machine. */
const usualOptions = {
  rate: { perMinute: 30 },
  queue: { runningMax: 10, waitingMax: 50, waitMs: 60_000 },
  breaker: {},
} as const satisfies LazaretOptions

const examples = `
The server has two tools. execute_code { language, code, input?, timeout_ms? } runs a program in a fresh cell.
validate_code { language, code } reads a program and lists what is risky in it. The configuration sets the limits.
With --sandboxes there are nine more, for sandboxes that persist between calls: create_sandbox, run_code, execute_command,
read_file, write_file, list_files, fork_context, close_context, close_sandbox.

Clients find the command after npm install -g of the package, or of the file that npm pack wrote in a checkout.
Claude Code      claude mcp add lazaret -- lazaret mcp
Codex            codex mcp add lazaret -- lazaret mcp
Claude Desktop, Cursor, Windsurf, Gemini CLI (mcpServers in their configuration file):
  { "mcpServers": {
      "lazaret": { "command": "lazaret", "args": ["mcp"] }
  } }
VS Code (.vscode/mcp.json):
  { "servers": {
      "lazaret": { "type": "stdio", "command": "lazaret", "args": ["mcp"] }
  } }
Over HTTP, after lazaret mcp --http:
  claude mcp add --transport http lazaret http://127.0.0.1:${defaultPort}/mcp

The server listens on 127.0.0.1 only. With LAZARET_TOKEN, or --tokens with lines of name:token, clients must send
"Authorization: Bearer <token>". Without either, every user of this machine may connect. docs/operate/mcp.md says where each
client keeps its configuration.`

interface McpFlags extends EngineFlags {
  readonly http?: number | true
  readonly tokens?: string
  readonly validation: ValidationMode
  readonly sandboxes?: number
  readonly bound?: AskedBounds
}

/** `lazaret mcp`: serves until the client disconnects or a signal arrives. */
export function addMcpCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('mcp')
    .description('serve the Model Context Protocol, so that agents can run code in cells')
    .option(
      '--http [port]',
      `serve HTTP on 127.0.0.1 instead of stdio (default port ${defaultPort})`,
      parsePort,
    )
    .option('--tokens <file>', 'with --http: the clients that may connect, as lines of name:token')
    .addOption(
      new Option('--validation <mode>', 'read programs before they run; enforce refuses risky ones')
        .choices(validationModes)
        .default('warn'),
    )
    .option(
      '--sandboxes <count>',
      'let each client keep up to this number of sandboxes between its calls',
      parseCount,
    )
    .option(boundFlag, 'heldBytesMax: the bytes that clients may make the server hold', parseBound)
  addConfigurationOptions(command)
    .addHelpText('after', examples)
    .action(() => context.perform(command, () => serve(command.opts<McpFlags>(), context)))
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Write a port from 0 to 65535.')
  return port
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d{1,3}$/.test(text) || count < 1 || count > 256)
    throw new InvalidArgumentError('Write a count from 1 to 256.')
  return count
}

async function serve(flags: McpFlags, context: CommandContext): Promise<number> {
  const { signal, warn, duringRun } = context
  if (flags.sandboxes !== undefined && flags.validation === 'enforce')
    throw new UsageError(
      'code in sandboxes is not validated, so --validation enforce does not work with --sandboxes.',
      'Leave one of the two out.',
    )
  const bounds = checkBounds(flags.bound, { names: [], most: 0 })
  const tokens = await readTokens(flags, signal)
  const engineOptions = await resolveEngineOptions(flags, context)
  const [{ openEngine }, { CheckedPrograms }, { ClientSandboxes }, { serveOverStdio }, { serveOverHttp }] =
    await Promise.all([
      import('../../../engine/lazaret.ts'),
      import('../../mcp/checked-programs.ts'),
      import('../../mcp/sandboxes/client-sandboxes.ts'),
      import('../../mcp/serve-stdio.ts'),
      import('../../mcp/serve-http.ts'),
    ])
  await duringRun(async () => {
    const engine = openEngine({
      ...usualOptions,
      ...engineOptions,
      queue: { ...usualOptions.queue, ...engineOptions.queue, ...bounds.ofEngine },
    })
    await using lazaret = engine.lazaret
    await using programs = new CheckedPrograms(engine, flags.validation)
    const perClientMax = flags.sandboxes
    await using sandboxes =
      perClientMax === undefined
        ? undefined
        : new ClientSandboxes({ lazaret, clock: systemClock, perClientMax })
    const host = {
      ...{ lazaret, programs, limits: limitsOf(engineOptions), version: readPackageVersion(), warn },
      account: engine.account,
      ...(sandboxes !== undefined && { sandboxes }),
    }
    if (flags.http === undefined) {
      await serveOverStdio(host, signal)
      return
    }
    const port = flags.http === true ? defaultPort : flags.http
    await using service = await serveOverHttp({ host, port, ...(tokens !== undefined && { tokens }) }).catch(
      (error: unknown) => {
        throw portError(error, port)
      },
    )
    warn(`serving ${service.url}${tokens === undefined ? ' for everybody on this machine' : ''}`)
    await aborted(signal)
  })
  // A signal is the normal end of a server.
  return 0
}

/** The limits of a request that sets none. */
function limitsOf({ defaults = {}, ceilings = {} }: LazaretOptions): Limits {
  return resolveLimits({}, { defaults, ceilings }).limits
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  return promise
}

/** From the file or from the environment; `undefined` if no token is required. */
async function readTokens(flags: McpFlags, signal: AbortSignal): Promise<TokenEntry[] | undefined> {
  const { LAZARET_TOKEN: token } = process.env
  const { http, tokens: path } = flags
  if (http === undefined) {
    if (path === undefined) return undefined
    throw new UsageError(
      '--tokens applies to HTTP only; over stdio the client is the process that started the server.',
      'Add --http.',
    )
  }
  const { createToken, parseTokens, tokenLengthMin } = await import('../../http/bearer-tokens.ts')
  const ofEnvironment = token === undefined ? [] : [createToken('token', token)]
  // An empty variable is a mistake in a script. Without this check, everybody could connect.
  if (token !== undefined && (token.length < tokenLengthMin || /\s/.test(token)))
    throw new UsageError(
      `LAZARET_TOKEN has fewer than ${tokenLengthMin} characters, or spaces.`,
      'Make one with: openssl rand -hex 32',
    )
  if (path === undefined) return token === undefined ? undefined : ofEnvironment
  const text = await readFileBounded(path, { bytesMax: tokenFileBytesMax, signal })
  await requirePrivate(path)
  try {
    return [...parseTokens(text.toString('utf8')), ...ofEnvironment]
  } catch (error) {
    throw new UsageError(
      `cannot use ${path}: ${(error as SyntaxError).message}.`,
      'Write lines of name:token; make a token with: openssl rand -hex 32',
    )
  }
}

function portError(error: unknown, port: number): unknown {
  const reason = describeSystemError(error)
  if (reason === undefined) return error
  return new UsageError(`cannot listen on port ${port}: ${reason}.`, 'Name another one: --http <port>')
}
