/** A sandbox on the server. It has the methods of a local sandbox, and each is a request. */
import type { Clamp } from '../../core/limits.ts'
import type { SandboxLimits } from '../../sandbox/commands/command-receipt.ts'
import type { ExecEvent } from '../../sandbox/commands/exec-stream.ts'
import type { ExecOptions, ExecResult, ProcessOptions, SandboxOptions } from '../../sandbox/types.ts'
import type { SessionOptions, Variables } from '../../sandbox/types.ts'
import type { Connection } from './connection.ts'
import { exposeRemotely, type RemotePort } from './remote-ports.ts'
import type { CodeResult, RunCodeOptions } from '../../sandbox/contexts/context-types.ts'
import { createRemoteContext, deleteRemoteContext, findRemoteContext } from './remote-contexts.ts'
import { listRemoteContexts, runCodeRemotely } from './remote-contexts.ts'
import type { RemoteContext, RemoteContextOptions } from './remote-contexts.ts'
import { createRemoteSession, execRemotely, findRemoteSession, streamRemotely } from './remote-exec.ts'
import type { RemoteSession } from './remote-exec.ts'
import { type RemoteFiles, remoteFiles } from './remote-files.ts'
import { findRemotely, killRemotely, listRemotely, startRemotely } from './remote-processes.ts'
import type { RemoteProcess } from './remote-processes.ts'
import { openRemoteTerminal } from './remote-terminal.ts'
import type { RemoteTerminal, TerminalOptions } from './remote-terminal.ts'
import { isMissing, SandboxConnection } from './sandbox-connection.ts'
import { requireObject, writeFiles } from './write-request.ts'

/** Works like `Sandbox`. Instead of folders of the host (`uploadFolder`) it sends tars. */
export interface RemoteSandbox extends RemoteFiles, AsyncDisposable {
  readonly id: string
  readonly limits: SandboxLimits
  readonly clamped: readonly Clamp[]
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
  /** Leaving the loop ends the command. */
  execStream(command: string, options?: ExecOptions): AsyncIterable<ExecEvent>
  createSession(options?: SessionOptions): Promise<RemoteSession>
  getSession(id: string): Promise<RemoteSession | undefined>
  deleteSession(id: string): Promise<boolean>
  setEnvVars(variables: Variables): Promise<void>
  startProcess(command: string, options?: ProcessOptions): Promise<RemoteProcess>
  listProcesses(): Promise<RemoteProcess[]>
  getProcess(id: string): Promise<RemoteProcess | undefined>
  killProcess(id: string): Promise<boolean>
  killAllProcesses(): Promise<number>
  /** Uses the platform's WebSocket, which Node has from version 22 on. */
  openTerminal(options: TerminalOptions): Promise<RemoteTerminal>
  /** On a free loopback port of the server. Needs a token that allows `ports`. */
  exposePort(port: number): Promise<RemotePort>
  createCodeContext(options?: RemoteContextOptions): Promise<RemoteContext>
  runCode(code: string, options?: RunCodeOptions): Promise<CodeResult>
  listCodeContexts(): Promise<RemoteContext[]>
  getCodeContext(id: string): Promise<RemoteContext | undefined>
  deleteCodeContext(id: string): Promise<boolean>
  /** Resolves when nothing of it is left. */
  destroy(): Promise<void>
}

interface ShownSandbox {
  readonly id: string
  readonly limits: SandboxLimits
  readonly clamped: readonly Clamp[]
}

export async function createSandbox(
  connection: Connection,
  asked: SandboxOptions = {},
): Promise<RemoteSandbox> {
  requireObject(asked, 'options')
  const { files, ...options } = asked
  const json = JSON.stringify({ ...options, ...(files !== undefined && { files: writeFiles(files) }) })
  return toSandbox(
    connection,
    await connection.sendJson<ShownSandbox>({ method: 'POST', path: '/v1/sandboxes', json }),
  )
}

export async function listSandboxes(connection: Connection): Promise<RemoteSandbox[]> {
  const asked = { method: 'GET', path: '/v1/sandboxes' } as const
  const { sandboxes } = await connection.sendJson<{ readonly sandboxes: readonly ShownSandbox[] }>(asked)
  return sandboxes.map((one) => toSandbox(connection, one))
}

export async function findSandbox(connection: Connection, id: string): Promise<RemoteSandbox | undefined> {
  const shown = await new SandboxConnection(connection, id).find<ShownSandbox>({ method: 'GET', path: '' })
  return shown && toSandbox(connection, shown)
}

function toSandbox(connection: Connection, { id, limits, clamped }: ShownSandbox): RemoteSandbox {
  const sandbox = new SandboxConnection(connection, id)
  const destroy = (): Promise<void> => end(sandbox, '')
  return {
    id,
    limits,
    clamped,
    ...remoteFiles(sandbox),
    exec: (command, options) => execRemotely(sandbox, command, options),
    execStream: (command, options) => streamRemotely(sandbox, command, options),
    createSession: (options) => createRemoteSession(sandbox, options),
    getSession: (name) => findRemoteSession(sandbox, name),
    deleteSession: (name) => isEnded(sandbox, `/sessions/${encodeURIComponent(name)}`),
    setEnvVars: (variables) => setVariables(sandbox, variables),
    startProcess: (command, options) => startRemotely(sandbox, command, options),
    listProcesses: () => listRemotely(sandbox),
    getProcess: (name) => findRemotely(sandbox, name),
    killProcess: (name) => killRemotely(sandbox, name),
    killAllProcesses: async () =>
      (await sandbox.sendJson<{ readonly killed: number }>({ method: 'DELETE', path: '/processes' })).killed,
    openTerminal: (asked) => openRemoteTerminal(sandbox, asked),
    exposePort: (port) => exposeRemotely(sandbox, port),
    createCodeContext: (options) => createRemoteContext(sandbox, options),
    runCode: (code, options) => runCodeRemotely(sandbox, code, options),
    listCodeContexts: () => listRemoteContexts(sandbox),
    getCodeContext: (name) => findRemoteContext(sandbox, name),
    deleteCodeContext: (name) => deleteRemoteContext(sandbox, name),
    destroy,
    [Symbol.asyncDispose]: destroy,
  }
}

/** `undefined` removes a variable. JSON has no `undefined`, so `null` stands for it. */
async function setVariables(sandbox: SandboxConnection, variables: Variables): Promise<void> {
  const entries = Object.entries(variables).map(([name, value]) => [name, value ?? null])
  await sandbox.send({ method: 'PUT', path: '/variables', json: JSON.stringify(Object.fromEntries(entries)) })
}

/** A sandbox that no longer exists has ended. */
async function end(sandbox: SandboxConnection, path: string): Promise<void> {
  await isEnded(sandbox, path)
}

/** Ends what the path names. Returns whether it existed. */
async function isEnded(sandbox: SandboxConnection, path: string): Promise<boolean> {
  try {
    await sandbox.send({ method: 'DELETE', path })
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
