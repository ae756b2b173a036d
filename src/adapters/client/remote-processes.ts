/** Processes of a sandbox on the server. */
import type { OutputChunk } from '../../core/request.ts'
import type { SignalName } from '../../sandbox/processes/signal-name.ts'
import type { LogText } from '../../sandbox/processes/log.ts'
import type { ProcessStatus, WaitOptions } from '../../sandbox/processes/processes.ts'
import type { ProcessOptions } from '../../sandbox/types.ts'
import { readEvents } from './read-events.ts'
import { toError } from './read-problem.ts'
import { type OutputEvent, toChunk } from './remote-command.ts'
import { writeCommand } from './remote-exec.ts'
import { isMissing, type SandboxConnection } from './sandbox-connection.ts'
import { requireObject, requireSignal, writeBytes } from './write-request.ts'

/** The current state of a process. */
export interface ProcessState {
  readonly status: ProcessStatus
  readonly exitCode?: number
}

/** Works like `SandboxProcess`. Properties of a local process become promises. */
export interface RemoteProcess {
  readonly id: string
  readonly pid: number
  readonly command: string
  look(): Promise<ProcessState>
  /** Sends a signal to it and everything that it has started. Default SIGTERM. */
  kill(signal?: SignalName): Promise<void>
  getLogs(): Promise<LogText>
  streamLogs(options?: { readonly signal?: AbortSignal }): AsyncIterable<OutputChunk>
  waitForExit(options?: WaitOptions): Promise<{ readonly exitCode: number }>
  waitForPort(port: number, options?: WaitOptions): Promise<void>
  waitForLog(pattern: string | RegExp, options?: WaitOptions): Promise<{ readonly line: string }>
  write(text: string | Uint8Array): Promise<void>
  closeStdin(): Promise<void>
  resize(size: { readonly columns: number; readonly rows: number }): Promise<void>
}

interface ShownProcess extends ProcessState {
  readonly id: string
  readonly pid: number
  readonly command: string
}

export async function startRemotely(
  sandbox: SandboxConnection,
  command: string,
  asked: ProcessOptions = {},
): Promise<RemoteProcess> {
  requireObject(asked, 'options')
  const { onOutput, signal, ...options } = asked
  requireSignal(signal)
  const json = writeCommand(command, options)
  const started = toProcess(
    sandbox,
    await sandbox.sendJson<ShownProcess>({ method: 'POST', path: '/processes', json }),
  )
  if (signal?.aborted === true) await started.kill('SIGKILL')
  else
    signal?.addEventListener('abort', () => void started.kill('SIGKILL').catch(() => undefined), {
      once: true,
    })
  if (onOutput !== undefined) void passOutput(started, onOutput)
  return started
}

/** Listeners get no more events once the connection has broken. */
async function passOutput(
  process: RemoteProcess,
  onOutput: (chunk: OutputChunk) => void | Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of process.streamLogs()) await onOutput(chunk)
  } catch {
    // The process continues, and its log can be requested again.
  }
}

export async function listRemotely(sandbox: SandboxConnection): Promise<RemoteProcess[]> {
  const asked = { method: 'GET', path: '/processes' } as const
  const { processes } = await sandbox.sendJson<{ readonly processes: readonly ShownProcess[] }>(asked)
  return processes.map((one) => toProcess(sandbox, one))
}

export async function findRemotely(
  sandbox: SandboxConnection,
  id: string,
): Promise<RemoteProcess | undefined> {
  const found = await sandbox.find<ShownProcess>({
    method: 'GET',
    path: `/processes/${encodeURIComponent(id)}`,
  })
  return found && toProcess(sandbox, found)
}

/** Returns whether such a process was running. */
export async function killRemotely(sandbox: SandboxConnection, id: string): Promise<boolean> {
  try {
    const asked = { method: 'DELETE', path: `/processes/${encodeURIComponent(id)}` } as const
    return (await sandbox.sendJson<{ readonly killed: boolean }>(asked)).killed
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function toProcess(sandbox: SandboxConnection, { id, pid, command }: ShownProcess): RemoteProcess {
  const path = `/processes/${encodeURIComponent(id)}`
  const tell = async (what: string, body: object): Promise<void> =>
    void (await sandbox.send({ method: 'POST', path: `${path}/${what}`, json: JSON.stringify(body) }))
  const wait = <T>(body: object): Promise<T> =>
    sandbox.sendJson<T>({ method: 'POST', path: `${path}/wait`, json: JSON.stringify(body) })
  return {
    id,
    pid,
    command,
    look: async () => {
      const { status, exitCode } = await sandbox.sendJson<ShownProcess>({ method: 'GET', path })
      return { status, ...(exitCode !== undefined && { exitCode }) }
    },
    kill: (signal) => tell('signal', { signal }),
    getLogs: () => sandbox.sendJson({ method: 'GET', path: `${path}/logs` }),
    streamLogs: ({ signal } = {}) => followLogs(sandbox, `${path}/logs`, signal),
    waitForExit: (options) => wait({ ...options }),
    waitForPort: async (port, options) => void (await wait({ port, ...options })),
    waitForLog: (pattern, options) =>
      wait({
        log: typeof pattern === 'string' ? pattern : { source: pattern.source, flags: pattern.flags },
        ...options,
      }),
    write: (text) => tell('stdin', { data: writeBytes(text, 'text') }),
    closeStdin: () => tell('stdin', { close: true }),
    resize: ({ columns, rows }) => tell('resize', { columns, rows }),
  }
}

async function* followLogs(
  sandbox: SandboxConnection,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<OutputChunk> {
  requireSignal(signal)
  if (signal?.aborted === true) return
  const over = new AbortController()
  const stop = (): void => over.abort()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const response = await sandbox.send({
      method: 'GET',
      path,
      accept: 'text/event-stream',
      signal: over.signal,
    })
    for await (const { event, data } of readEvents(response.body)) {
      if (event === 'result') return
      if (event === 'error') throw toError(data)
      if (event === 'output') yield toChunk(data as OutputEvent)
    }
  } catch (error) {
    if (!over.signal.aborted) throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    over.abort()
  }
}
