/** `lazaret serve`: one engine behind HTTP, until a signal arrives. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { LazaretEvent } from '../../../engine/options/options.ts'
import type { LazaretMetrics } from '../../../observe/metrics/index.ts'
import type { ApiToken } from '../../http/api-tokens.ts'
import type { HttpBounds } from '../../http/bounds.ts'
import type { ApiDoor } from '../../http/serve-api.ts'
import type { CommandContext } from './command-context.ts'
import { type AskedBounds, boundFlag, checkBounds, parseBound } from '../options/bound-flag.ts'
import { readFileBounded } from '../options/bounded-read.ts'
import { addConfigurationOptions, type EngineFlags, resolveAnnounced } from '../options/engine-flags.ts'
import { readPackageVersion } from '../package-version.ts'
import { AccessLog, accessLogFormats, type AccessLogFormat } from '../output/access-log.ts'
import { printJson } from '../output/print-json.ts'
import { requirePrivate } from '../configuration/require-private.ts'
import { listenError } from '../output/listen-error.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import type { ServeConfig } from '../serve-config.ts'
import { openConsole } from '../output/open-console.ts'
import { makeToken, tokenFileError } from './token-command.ts'
import { parseDuration } from '../options/units.ts'
import { UsageError } from '../options/usage-error.ts'

const defaultPort = 7341
const defaultHost = '127.0.0.1'
const defaultDrainMs = 30_000
/** As for `lazaret mcp`. */
const tokenLengthMin = 16

const help = `
Examples:
  lazaret serve
  lazaret token create --name ci --tokens /etc/lazaret/tokens.json
  lazaret serve --host 0.0.0.0 --public-host build.example --tokens /etc/lazaret/tokens.json

Without --tokens the server creates one token at each start, prints it, and listens only on this machine. With
LAZARET_TOKEN, its value is the token, and has every scope. After SIGTERM, running work may end within --drain; a second
SIGTERM ends it at once.
docs/operate/http.md has the routes.`

interface ServeFlags extends EngineFlags {
  readonly host: string
  readonly port: number
  readonly unix?: string
  readonly tokens?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly publicHost?: readonly string[]
  readonly open?: boolean
  readonly cors?: readonly string[]
  readonly drain: number
  readonly bound?: AskedBounds
  readonly accessLog?: AccessLogFormat
  readonly json?: boolean
}

export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve')
    .description('serve the HTTP API, for callers in any language')
    .option(
      '--host <address>',
      'the address to listen on; needs tokens unless it is a loopback address',
      defaultHost,
    )
    .option('--port <port>', 'the port; 0 takes any free one', parsePort, defaultPort)
    .option('--unix <path>', 'listen on a Unix socket instead, which only this user may use')
    .option('--tokens <file>', 'the file of tokens that lazaret token writes')
    .option('--tls-cert <file>', 'use TLS with this certificate, in PEM; needs --tls-key')
    .option('--tls-key <file>', 'its private key, which only this user may read')
    .option('--public-host <name...>', 'further host names that callers use for this server')
    .option('--open', 'open the console in a browser')
    .option('--cors <origin...>', 'origins whose pages may call the server; they need a token too')
    .addOption(
      new Option('--drain <duration>', 'how long work may continue after SIGTERM')
        .argParser(parseDuration)
        .default(defaultDrainMs, '30s'),
    )
    .option(boundFlag, 'change a bound of docs/operate/http.md (repeatable)', parseBound)
    .addOption(
      new Option('--access-log <format>', 'print a line for each request on standard output').choices(
        accessLogFormats,
      ),
    )
    .option('--json', 'print one JSON document, on one line, once it listens')
  addConfigurationOptions(command)
    .addHelpText('after', help)
    .action(() => context.perform(command, () => serve(command.opts<ServeFlags>(), context)))
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Write a port from 0 to 65535.')
  return port
}

async function serve(flags: ServeFlags, context: CommandContext): Promise<number> {
  const { signal, warn, duringRun } = context
  if (flags.open === true && flags.unix !== undefined)
    throw new UsageError('no browser opens a Unix socket.', 'Leave out --open or --unix.')
  const { boundMost, usualBounds } = await import('../../http/bounds.ts')
  const bounds = checkBounds(flags.bound, {
    names: Object.keys(usualBounds) as (keyof HttpBounds)[],
    most: boundMost,
  })
  const source = await chooseTokens(flags)
  const tls = await readTls(flags, signal)
  const { options: engineOptions, serve: configured = {} } = await resolveAnnounced(flags, context)
  const origins = await checkOrigins(flags.cors ?? configured.cors)
  const accessFormat = flags.accessLog ?? configured.accessLog
  const [{ openEngine }, { serveApi }, { ApiTokens }, { systemClock }] = await Promise.all([
    import('../../../engine/lazaret.ts'),
    import('../../http/serve-api.ts'),
    import('../../http/api-tokens.ts'),
    import('../../../core/clock.ts'),
  ])
  await duringRun(async () => {
    using tokens = openTokens(() => new ApiTokens(source, { clock: systemClock, warn }), flags)
    const metrics = await loadMetrics()
    const onEvent = (event: LazaretEvent): void => {
      metrics?.hear(event)
      if (event.type === 'leftovers-removed')
        warn(`removed ${event.left} that a killed process had left behind (${event.hosts})`)
      // Other events are in metrics and the audit log.
      if ('fix' in event) warn(`${event.type}: ${event.reason} ${event.fix}`)
    }
    const queue = { ...engineOptions.queue, ...bounds.ofEngine }
    const engine = openEngine({ ...engineOptions, queue, onEvent })
    try {
      await using service = await serveApi({
        engine,
        version: readPackageVersion(),
        tokens,
        listen: placeOf(flags),
        tls,
        hostNames: hostNamesOf(flags, configured),
        origins,
        warn,
        metrics,
        bounds: { ...configured.bounds, ...bounds.ofServer },
        onAnswered: accessFormat === undefined ? undefined : new AccessLog(accessFormat).add,
      }).catch((error: unknown) => {
        throw listenError(error, flags)
      })
      if (flags.unix === undefined && tls === undefined && !isLoopback(flags.host))
        warn('tokens cross the network in clear text, unless a proxy in front of this server uses TLS')
      const token = 'token' in source ? source.token : undefined
      announce(service.url, token, flags)
      await using page = flags.open === true ? await openConsole(service.url, token, warn) : undefined
      void page
      await aborted(signal)
      await service.drain(flags.drain)
    } finally {
      await engine.lazaret[Symbol.asyncDispose]()
    }
  })
  // A signal is the normal end of a server.
  return 0
}

type TokenSource =
  | { readonly path: string }
  | { readonly tokens: readonly ApiToken[]; readonly token?: string }

async function chooseTokens({ tokens: path, host, unix }: ServeFlags): Promise<TokenSource> {
  const { LAZARET_TOKEN: given } = process.env
  const { tokenScopes } = await import('../../http/api-tokens.ts')
  const { hashOf } = await import('../../http/bearer-tokens.ts')
  const entry = (name: string, token: string): ApiToken => ({
    name,
    hash: hashOf(token),
    scopes: tokenScopes,
    allow: [],
  })
  if (path !== undefined && given !== undefined)
    throw new UsageError('there are two sources of tokens.', 'Unset LAZARET_TOKEN, or leave out --tokens.')
  if (path !== undefined) return { path }
  if (given !== undefined) {
    // An empty variable is a mistake in a script.
    if (given.length < tokenLengthMin || /\s/.test(given))
      throw new UsageError(
        `LAZARET_TOKEN has fewer than ${tokenLengthMin} characters, or spaces.`,
        'Make one with: openssl rand -hex 32',
      )
    return { tokens: [entry('token', given)] }
  }
  if (unix === undefined && !isLoopback(host))
    throw new UsageError(
      `--host ${host} can be reached from other machines, so it needs tokens.`,
      'Create a token, and name its file: lazaret token create --name <name> --tokens <file>; lazaret serve --tokens <file>',
    )
  const token = makeToken()
  return { tokens: [entry('start', token)], token }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

function hostNamesOf({ host, publicHost }: ServeFlags, { publicHosts = [] }: ServeConfig): string[] {
  const own = host.includes(':') ? `[${host}]` : host
  return ['127.0.0.1', 'localhost', '[::1]', own, ...(publicHost ?? publicHosts)].map((name) =>
    name.toLowerCase(),
  )
}

function placeOf({ host, port, unix }: ServeFlags): ApiDoor['listen'] {
  return unix === undefined ? { host, port } : { path: unix }
}

function openTokens<T>(open: () => T, { tokens: path = '' }: ServeFlags): T {
  try {
    return open()
  } catch (error) {
    throw tokenFileError(error, path)
  }
}

const pemBytesMax = 1024 * 1024

async function readTls(
  { tlsCert, tlsKey }: ServeFlags,
  signal: AbortSignal,
): Promise<{ readonly cert: Buffer; readonly key: Buffer } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError('--tls-cert and --tls-key belong together.', 'Name both files, or neither.')
  await requirePrivate(tlsKey)
  const bound = { bytesMax: pemBytesMax, signal }
  const pair = { cert: await readFileBounded(tlsCert, bound), key: await readFileBounded(tlsKey, bound) }
  const { createSecureContext } = await import('node:tls')
  try {
    createSecureContext(pair)
  } catch (error) {
    throw new UsageError(
      `${toSingleLine(tlsCert)} and ${toSingleLine(tlsKey)} are not a certificate and its key: ${(error as Error).message}.`,
      'Both are PEM files; in a chain, the certificate of the server comes first.',
    )
  }
  return pair
}

async function checkOrigins(asked: readonly string[] = []): Promise<readonly string[]> {
  const { isOrigin } = await import('../../http/browsers/cors.ts')
  const strange = asked.find((origin) => !isOrigin(origin))
  if (strange !== undefined)
    throw new UsageError(
      `${toSingleLine(JSON.stringify(strange))} is not an origin.`,
      'Write scheme, host and port alone, such as https://app.example; there is no wildcard.',
    )
  return asked
}

/** Undefined if the optional package is not installed. */
async function loadMetrics(): Promise<LazaretMetrics | undefined> {
  try {
    const { LazaretMetrics: Metrics } = await import('../../../observe/metrics/index.ts')
    return new Metrics()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** The link has the token in its fragment, which browsers do not send. Opening it is enough to use the console. */
function announce(url: string, token: string | undefined, { json, unix }: ServeFlags): void {
  const link = unix === undefined ? `${url}/${token === undefined ? '' : `#token=${token}`}` : undefined
  if (json === true)
    printJson({ url, ...(token !== undefined && { token }), ...(link !== undefined && { link }) })
  else
    process.stdout.write(
      [
        `address  ${url}\n`,
        token === undefined ? '' : `token    ${token}\n`,
        link === undefined ? '' : `console  ${link}\n`,
      ].join(''),
    )
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  return promise
}
