/** Processes of a sandbox over HTTP: started, watched, waited for, written to, and ended. */
import { LazaretError } from '../../../core/errors/errors.ts'
import { untilAborted } from '../../../core/abort.ts'
import type { OutputChunk } from '../../../core/request.ts'
import { isCheapPattern } from '../../../core/values/decode-leaf.ts'
import { keptBytesMax } from '../../../sandbox/processes/log-stream.ts'
import type { SignalName } from '../../../sandbox/processes/signal-name.ts'
import { readLogs } from '../../../sandbox/processes/processes.ts'
import type { EndableWait, SandboxProcess } from '../../../sandbox/processes/processes.ts'
import { commandEvents } from '../event-schemas.ts'
import type { Exchange } from '../exchange.ts'
import { readBytes } from '../read-bytes.ts'
import type { Api, Route } from './routes.ts'
import { invalid, toOutputEvent } from './run-routes.ts'
import { readCommand, sandboxOf } from './sandbox-routes.ts'

const scope = 'sandbox'
const all = '/v1/sandboxes/{id}/processes'
const one = `${all}/{process}`

export const processRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: all,
    scope,
    summary: 'Start a background process',
    body: 'ProcessRequest',
    status: 201,
    reply: 'Process',
    serve: start,
  },
  {
    method: 'GET',
    path: all,
    scope,
    summary: 'List the processes',
    status: 200,
    reply: 'Processes',
    serve: list,
  },
  {
    method: 'DELETE',
    path: all,
    scope,
    summary: 'Kill all processes',
    status: 200,
    reply: 'Killed',
    serve: killAll,
  },
  {
    method: 'GET',
    path: one,
    scope,
    summary: 'Show a process',
    status: 200,
    reply: 'Process',
    serve: look,
  },
  {
    method: 'DELETE',
    path: one,
    scope,
    summary: 'Kill a process and what it has started',
    status: 200,
    reply: 'Killed',
    serve: kill,
  },
  {
    method: 'GET',
    path: `${one}/logs`,
    scope,
    summary: 'The output of a process; as events, its later output too',
    status: 200,
    reply: 'Logs',
    events: { ...commandEvents, result: 'Process' },
    serve: logs,
  },
  {
    method: 'POST',
    path: `${one}/signal`,
    scope,
    summary: 'Send a signal to a process',
    body: 'SignalRequest',
    status: 204,
    serve: signal,
  },
  {
    method: 'POST',
    path: `${one}/stdin`,
    scope,
    summary: 'Write to the standard input or the terminal of a process, and close it',
    body: 'StdinRequest',
    status: 204,
    serve: write,
  },
  {
    method: 'POST',
    path: `${one}/resize`,
    scope,
    summary: 'Resize the terminal of a process',
    body: 'TerminalSize',
    status: 204,
    serve: resize,
  },
  {
    method: 'POST',
    path: `${one}/wait`,
    scope,
    summary: 'Wait for the end of a process, or for a port or a line of its log',
    body: 'WaitRequest',
    status: 200,
    reply: 'Waited',
    serve: wait,
  },
]

/** Throws NOT_FOUND. */
function processOf(exchange: Exchange, api: Api): SandboxProcess {
  const found = sandboxOf(exchange, api).getProcess(exchange.param('process'))
  if (found === undefined) throw new LazaretError('NOT_FOUND')
  return found
}

async function start(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { command, options, isAborted } = readCommand(await exchange.readJson())
  if (isAborted) throw invalid('signal: a process continues after its request; end it with DELETE')
  const started = await sandbox.startProcess(command as string, options)
  await exchange.reply(201, describe(started))
}

async function list(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, { processes: sandboxOf(exchange, api).listProcesses().map(describe) })
}

async function look(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, describe(processOf(exchange, api)))
}

function describe({ id, pid, command, status, exitCode }: SandboxProcess): object {
  return { id, pid, command, status, ...(exitCode !== undefined && { exitCode }) }
}

async function killAll(exchange: Exchange, api: Api): Promise<void> {
  await exchange.reply(200, { killed: await sandboxOf(exchange, api).killAllProcesses() })
}

async function kill(exchange: Exchange, api: Api): Promise<void> {
  const { id } = processOf(exchange, api)
  await exchange.reply(200, { killed: await sandboxOf(exchange, api).killProcess(id) })
}

/** As events, the logs continue until the process ends. */
async function logs(exchange: Exchange, api: Api): Promise<void> {
  const { events, wantsEvents, signal: gone, parts } = exchange
  const found = processOf(exchange, api)
  if (!wantsEvents) {
    // Before they are decoded.
    exchange.hold(2 * keptBytesMax)
    await exchange.reply(200, await readLogs(found))
    return
  }
  // A follower must not delay the server's shutdown.
  const chunks = found.streamLogs({ signal: AbortSignal.any([gone, parts.draining]) })
  await events.send('started', { id: parts.id })
  for await (const chunk of chunks) await events.sendJson('output', writeShared(chunk))
  if (!parts.draining.aborted) await events.send('result', describe(found))
  events.end()
}

/** Followers of one log get the same chunks. */
const shared = new WeakMap<OutputChunk, string>()

function writeShared(chunk: OutputChunk): string {
  const json = shared.get(chunk) ?? JSON.stringify(toOutputEvent(chunk))
  shared.set(chunk, json)
  return json
}

async function signal(exchange: Exchange, api: Api): Promise<void> {
  const found = processOf(exchange, api)
  const { signal: name } = await exchange.readJson()
  found.kill(name as SignalName | undefined)
  await exchange.reply(204)
}

async function write(exchange: Exchange, api: Api): Promise<void> {
  const found = processOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { data, close = false } = await exchange.readJson()
  if (typeof close !== 'boolean') throw invalid('close: must be true or false')
  if (data !== undefined || !close)
    await untilAborted(writeBounded(found, readBytes(data, 'data')), exchange.signal)
  // In a terminal it is a write like any other.
  if (close)
    await untilAborted(
      withinBound(found, 1, () => found.closeStdin()),
      exchange.signal,
    )
  await exchange.reply(204)
}

/** Input that a process has not read yet is kept in memory, whether or not its writer still waits. */
const unreadBytesMax = 1024 * 1024
/** What each waiting write costs besides its bytes, rounded down: a million writes of one byte would take gigabytes. */
const writeBytes = 1024
const unreadBytes = new WeakMap<SandboxProcess, number>()

/** Throws QUEUE_FULL. */
export function writeBounded(target: SandboxProcess, data: string | Uint8Array): Promise<void> {
  return withinBound(target, Buffer.byteLength(data), () => target.write(data))
}

async function withinBound(
  target: SandboxProcess,
  dataBytes: number,
  act: () => Promise<void>,
): Promise<void> {
  const before = unreadBytes.get(target) ?? 0
  if (before > unreadBytesMax)
    throw new LazaretError('QUEUE_FULL', { detail: 'The process has not read what was written before.' })
  const bytes = dataBytes + writeBytes
  unreadBytes.set(target, before + bytes)
  try {
    await act()
  } finally {
    unreadBytes.set(target, (unreadBytes.get(target) ?? 0) - bytes)
  }
}

async function resize(exchange: Exchange, api: Api): Promise<void> {
  const found = processOf(exchange, api)
  found.resize((await exchange.readJson()) as unknown as Parameters<SandboxProcess['resize']>[0])
  await exchange.reply(204)
}

/** For its end, or for a port or a line of its log. Throws PROCESS_ENDED, WAIT_TIMED_OUT. */
async function wait(exchange: Exchange, api: Api): Promise<void> {
  const found = processOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { port, log, timeout, ...others } = await exchange.readJson()
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw invalid(`unknown key ${JSON.stringify(unknown.slice(0, 100))}; known keys: port, log, timeout`)
  const options: EndableWait = {
    signal: exchange.signal,
    ...(timeout !== undefined && { timeout: timeout as number }),
  }
  if (port !== undefined && log !== undefined) throw invalid('port and log: only one of them')
  if (port !== undefined) {
    await found.waitForPort(port as number, options)
    await exchange.reply(200, {})
  } else if (log === undefined) await exchange.reply(200, await found.waitForExit(options))
  else await exchange.reply(200, await found.waitForLog(readPattern(log), options))
}

/** A text, or a regular expression as its source and flags. */
function readPattern(log: unknown): string | RegExp {
  if (typeof log === 'string') return log
  const { source, flags = '' } = (typeof log === 'object' && log !== null ? log : {}) as Record<
    string,
    unknown
  >
  if (typeof source !== 'string' || typeof flags !== 'string')
    throw invalid('log: must be a string or { source, flags }')
  // A thread bounds the time of each match, but the pattern is compiled here.
  if (!isCheapPattern(source))
    throw invalid('log: is longer than 4,096 characters, or has more than 8 named sets (`\\p{…}`)')
  try {
    return new RegExp(source, flags)
  } catch {
    throw invalid('log: is not a regular expression')
  }
}
