/** Code contexts of a sandbox on the server: each method is a request, and output streams. */
import type { FunctionCall } from '../../core/request.ts'
import type { LogEntry } from '../../core/output.ts'
import type { ResultDocument } from '../../core/result.ts'
import type { ContextLanguage } from '../../core/work.ts'
import type {
  CodeContextOptions,
  CodeResult,
  ForkOptions,
  RunCodeOptions,
} from '../../sandbox/contexts/context-types.ts'
import { isMissing, type SandboxConnection } from './sandbox-connection.ts'
import { answerCall, showDisplay, toResult } from './remote-run.ts'
import type { CallEvent, ClearEvent, DisplayEvent } from './remote-run.ts'
import { performRemotely } from './remote-command.ts'

/** Works like `CodeContext`. */
export interface RemoteContext {
  readonly id: string
  readonly language: ContextLanguage
  readonly cwd: string
  /** Returns the current status. */
  look(): Promise<{ readonly status: 'running' | 'idle' | 'gone' }>
  runCode(code: string, options?: Omit<RunCodeOptions, 'context' | 'language'>): Promise<CodeResult>
  interrupt(): Promise<boolean>
  complete(text: string): Promise<readonly string[]>
  fork(options?: ForkOptions): Promise<RemoteContext>
  restart(): Promise<void>
}

/** Over HTTP, contexts have no host functions. */
export type RemoteContextOptions = Omit<CodeContextOptions, 'functions'>

interface ShownContext extends Pick<RemoteContext, 'id' | 'language' | 'cwd'> {
  readonly status: 'running' | 'idle' | 'gone'
}

export async function createRemoteContext(
  sandbox: SandboxConnection,
  options: RemoteContextOptions = {},
): Promise<RemoteContext> {
  const json = JSON.stringify(options)
  return toContext(sandbox, await sandbox.sendJson<ShownContext>({ method: 'POST', path: '/contexts', json }))
}

export async function listRemoteContexts(sandbox: SandboxConnection): Promise<RemoteContext[]> {
  const asked = { method: 'GET', path: '/contexts' } as const
  const { contexts } = await sandbox.sendJson<{ readonly contexts: readonly ShownContext[] }>(asked)
  return contexts.map((one) => toContext(sandbox, one))
}

export async function findRemoteContext(
  sandbox: SandboxConnection,
  id: string,
): Promise<RemoteContext | undefined> {
  const shown = await sandbox.find<ShownContext>({ method: 'GET', path: pathOf(id) })
  return shown && toContext(sandbox, shown)
}

/** Returns whether there was such a context. */
export async function deleteRemoteContext(sandbox: SandboxConnection, id: string): Promise<boolean> {
  try {
    await sandbox.send({ method: 'DELETE', path: pathOf(id) })
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

export async function runCodeRemotely(
  sandbox: SandboxConnection,
  code: string,
  { context, language, ...options }: RunCodeOptions = {},
): Promise<CodeResult> {
  if (context === undefined) return send(sandbox, { path: '/code', code, language, options })
  const id = typeof context === 'string' ? context : context.id
  return send(sandbox, { path: `${pathOf(id)}/run`, code, options })
}

function pathOf(id: string): string {
  return `/contexts/${encodeURIComponent(id)}`
}

function toContext(sandbox: SandboxConnection, { id, language, cwd }: ShownContext): RemoteContext {
  const path = pathOf(id)
  return {
    id,
    language,
    cwd,
    look: async () => {
      const { status } = await sandbox.sendJson<ShownContext>({ method: 'GET', path })
      return { status }
    },
    runCode: (code, options = {}) => send(sandbox, { path: `${path}/run`, code, options }),
    interrupt: async () => {
      const asked = { method: 'POST', path: `${path}/interrupt` } as const
      return (await sandbox.sendJson<{ readonly interrupted: boolean }>(asked)).interrupted
    },
    complete: async (text) => {
      const asked = { method: 'POST', path: `${path}/complete`, json: JSON.stringify({ text }) } as const
      return (await sandbox.sendJson<{ readonly matches: readonly string[] }>(asked)).matches
    },
    fork: async (options = {}) => {
      const json = JSON.stringify(options)
      return toContext(
        sandbox,
        await sandbox.sendJson<ShownContext>({ method: 'POST', path: `${path}/fork`, json }),
      )
    },
    restart: async () => void (await sandbox.send({ method: 'POST', path: `${path}/restart` })),
  }
}

interface SentCode {
  readonly path: string
  readonly code: string
  readonly language?: ContextLanguage | undefined
  readonly options: Omit<RunCodeOptions, 'context' | 'language'>
}

type CodeDocument = ResultDocument & Pick<CodeResult, 'context' | 'isStateKept' | 'note'>

/** Always as events, because code may run for minutes without output. */
async function send(
  sandbox: SandboxConnection,
  { path, code, language, options }: SentCode,
): Promise<CodeResult> {
  const { connection } = sandbox
  const { signal, onStdout, onStderr, onLog, onResult, onClear, onError, onInput, ...rest } = options
  const asks = onInput !== undefined
  const functions = asks ? { 'input()': askerOf(onInput) } : {}
  const { context, isStateKept, note, ...document } = await performRemotely<CodeDocument>(connection, {
    path: sandbox.pathOf(path),
    json: JSON.stringify({
      ...{ ...rest, code, language },
      ...(asks && { asks }),
      ...(signal?.aborted === true && { signal: 'aborted' }),
    }),
    wantsEvents: true,
    signal,
    onOutput: ({ stream, text }) => (stream === 'stdout' ? onStdout : onStderr)?.(text),
    onEvent: async (event, data, open) => {
      if (event === 'log') await onLog?.(data as LogEntry)
      if (event === 'display') await showDisplay(data as DisplayEvent, onResult)
      if (event === 'clear') await onClear?.((data as ClearEvent).waits)
      if (event === 'call') void answerCall(connection, { functions }, { open, called: data as CallEvent })
    },
  })
  if ('error' in document.outcome) onError?.(document.outcome.error)
  return toResult(document, { context, isStateKept, ...(note !== undefined && { note }) })
}

function askerOf(onInput: NonNullable<RunCodeOptions['onInput']>) {
  return function (this: FunctionCall, ...[prompt]: unknown[]): unknown {
    return onInput(typeof prompt === 'string' ? prompt : '')
  }
}
