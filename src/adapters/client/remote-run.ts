/** One run on the server: answers its calls of functions, and reads its result. */
import { fromBase64 } from '../../core/values/base64.ts'
import type { FunctionCall, RunRequest } from '../../core/request.ts'
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { FileDocument, ResultDocument, RunResult } from '../../core/result.ts'
import { decodeValue } from '../../core/values/values.ts'
import { createResult } from '../../result/run-result.ts'
import type { TextData } from '../../result/to-text.ts'
import type { Connection } from './connection.ts'
import { type OpenWork, performRemotely } from './remote-command.ts'
import { requireObject, writeRun, writeTagged } from './write-request.ts'

/** Longer runs use events, which begin with the run: some platforms give up on a reply whose headers take minutes. */
const quietMsMax = 120_000

export async function runRemotely(connection: Connection, request: RunRequest): Promise<RunResult> {
  requireObject(request, 'request')
  const { signal, onOutput, onLog, onDisplay, onClear, functions, limits } = request
  const isHeard = [onOutput, onLog, onDisplay, onClear, functions].some((one) => one !== undefined)
  const document = await performRemotely<ResultDocument>(connection, {
    path: '/v1/run',
    json: writeRun(request),
    wantsEvents: isHeard || (limits?.wallMs ?? 0) > quietMsMax,
    signal,
    onOutput,
    onEvent: async (event, data, open) => {
      if (event === 'log') await onLog?.(data as LogEntry)
      if (event === 'display') await showDisplay(data as DisplayEvent, onDisplay)
      if (event === 'clear') await onClear?.((data as ClearEvent).waits)
      if (event === 'call') void answerCall(connection, request, { open, called: data as CallEvent })
    },
  })
  return toResult(document, {})
}

export interface DisplayEvent extends DisplayFacts {
  readonly bundle: MimeBundle
}

export interface ClearEvent {
  readonly waits: boolean
}

export async function showDisplay(
  { bundle, ...facts }: DisplayEvent,
  show: RunRequest['onDisplay'],
): Promise<void> {
  await show?.(bundle, facts)
}

export interface CallEvent {
  readonly call: string
  readonly name: string
  readonly args: unknown
}

interface OpenCall {
  readonly open: OpenWork
  readonly called: CallEvent
}

/** Calls a function of `request` and sends its answer. */
export async function answerCall(
  connection: Connection,
  request: Pick<RunRequest, 'functions'>,
  { open: { id, over }, called }: OpenCall,
): Promise<void> {
  const json = await callFunction(request, called, over)
  // Errors are ignored, because nobody waits for the answer once the run is over.
  await connection
    .send({ method: 'POST', path: `/v1/run/${id}/calls/${called.call}`, json, signal: over })
    .catch(() => undefined)
}

async function callFunction(
  { functions = {} }: Pick<RunRequest, 'functions'>,
  { name, args }: CallEvent,
  signal: AbortSignal,
): Promise<string> {
  try {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined
    const context: FunctionCall = { signal }
    const value = await called?.apply(context, decodeValue(args) as unknown[])
    return `{"value":${writeTagged(value, 'value')}}`
  } catch (thrown) {
    // The text of a value that the guest has sent may take for ever: see function-error.ts.
    const isShort = typeof thrown === 'string' || typeof thrown === 'number' || typeof thrown === 'boolean'
    const text = isShort ? String(thrown) : 'a value that is no error'
    const { name: kind, message } = thrown instanceof Error ? thrown : new Error(text)
    return JSON.stringify({ error: { name: kind, message } })
  }
}

/** `own` is what the result has besides the data of a run. */
export function toResult<Own extends Pick<TextData, 'note'>>(
  { ok: _ok, value, files, ...rest }: ResultDocument,
  own: Own,
): RunResult & Own {
  return createResult({
    ...rest,
    ...(value !== undefined && { value: decodeValue(value), valueTagged: value }),
    files: readFiles(files),
    ...own,
  })
}

function readFiles(files: Readonly<Record<string, FileDocument>>): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(files).map(([path, { base64 }]) => [path, fromBase64(base64)]))
}
