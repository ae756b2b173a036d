/** Commands of a sandbox on the server, and its sessions. */
import { withText } from '../../result/command-text.ts'
import type { ExecEvent } from '../../sandbox/commands/exec-stream.ts'
import type { ExecOptions, ExecResult, SessionOptions } from '../../sandbox/types.ts'
import { type OutputEvent, performRemotely, toChunk } from './remote-command.ts'
import { readEvents } from './read-events.ts'
import { toError } from './read-problem.ts'
import { goneIfMissing, type SandboxConnection } from './sandbox-connection.ts'
import { requireObject, requireSignal, writeBytes } from './write-request.ts'

export interface RemoteSession {
  readonly id: string
  /** The working folder of its next command at the time when this session was looked up. */
  readonly cwd: string
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
}

/** As it is sent. */
type ExecData = Omit<ExecResult, 'toText'>

/** A command that may take longer than this is sent as events, because it may have no output for as long. */
const quietMsMax = 100_000

export async function execRemotely(
  sandbox: SandboxConnection,
  command: string,
  options: ExecOptions = {},
): Promise<ExecResult> {
  requireObject(options, 'options')
  const { signal, onOutput, timeout } = options
  const isLong = timeout === undefined || timeout === null || timeout > quietMsMax
  try {
    const data = await performRemotely<ExecData>(sandbox.connection, {
      path: sandbox.pathOf('/exec'),
      json: writeCommand(command, options),
      wantsEvents: onOutput !== undefined || isLong,
      signal,
      onOutput,
    })
    return withText(data)
  } catch (error) {
    throw goneIfMissing(error)
  }
}

/** `signal` and `onOutput` are not sent. */
export function writeCommand(
  command: string,
  options: ExecOptions & { readonly id?: string },
  more: object = {},
): string {
  const { signal, onOutput: _onOutput, stdin, ...rest } = options
  return JSON.stringify({
    command,
    ...rest,
    ...more,
    ...(stdin !== undefined && { stdin: writeBytes(stdin, 'stdin') }),
    ...(signal?.aborted === true && { signal: 'aborted' }),
  })
}

/** Leaving the loop ends the command. */
export async function* streamRemotely(
  sandbox: SandboxConnection,
  command: string,
  options: ExecOptions = {},
): AsyncGenerator<ExecEvent> {
  const { signal, onOutput } = options
  requireSignal(signal)
  yield { type: 'start', command }
  const over = new AbortController()
  const stop = (): void => over.abort()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const response = await sandbox.send({
      method: 'POST',
      path: '/exec',
      json: writeCommand(command, options, { beside: true }),
      accept: 'text/event-stream',
      signal: over.signal,
    })
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'result') {
        yield { type: 'complete', result: withText(data as ExecData) }
        return
      }
      if (event === 'error') throw toError(data)
      if (event !== 'output') continue
      const chunk = toChunk(data as OutputEvent)
      await onOutput?.(chunk)
      yield { type: chunk.stream, text: chunk.text, bytes: chunk.bytes, atMs: chunk.atMs }
    }
  } catch (error) {
    yield { type: 'error', error }
  } finally {
    signal?.removeEventListener('abort', stop)
    over.abort()
  }
}

export async function createRemoteSession(
  sandbox: SandboxConnection,
  options: SessionOptions = {},
): Promise<RemoteSession> {
  const asked = { method: 'POST', path: '/sessions', json: JSON.stringify(options) } as const
  return toSession(sandbox, await sandbox.sendJson<SessionState>(asked))
}

export async function findRemoteSession(
  sandbox: SandboxConnection,
  id: string,
): Promise<RemoteSession | undefined> {
  const path = `/sessions/${encodeURIComponent(id)}`
  const state = await sandbox.find<SessionState>({ method: 'GET', path })
  return state && toSession(sandbox, state)
}

interface SessionState {
  readonly id: string
  readonly cwd: string
}

function toSession(sandbox: SandboxConnection, { id, cwd }: SessionState): RemoteSession {
  return {
    id,
    cwd,
    exec: (command, options) => execRemotely(sandbox, command, { ...options, sessionId: id }),
  }
}
