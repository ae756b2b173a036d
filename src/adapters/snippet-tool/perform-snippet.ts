/** Turns a request of the snippet tool into a job for a thread, and its end into the tool's answer. */
import type { GuestError } from '../../core/outcome.ts'
import { createOutputBuffer, readOutput } from '../../runtimes/snippet/output-buffer.ts'
import type { SnippetEnd } from '../../runtimes/snippet/thread.ts'
import { usualVm } from '../../runtimes/snippet/thread-protocol.ts'
import type { SnippetJob } from '../../runtimes/snippet/thread-protocol.ts'
import { InvalidSnippet, parseSnippet } from './parse-snippet.ts'
import type { ParsedSnippet } from './parse-snippet.ts'
import type { SnippetError, SnippetErrorCode, SnippetResult } from './snippet-types.ts'

type Failed = Extract<SnippetEnd, { kind: 'failed' }>

/** Gives the job to a thread, and ends it after that time. */
export type RunJob = (job: SnippetJob, wallMs: number) => Promise<{ readonly end: SnippetEnd }>

/** Throws what `run` throws, and the signal's reason. */
export async function performSnippet(
  request: unknown,
  run: RunJob,
  signal: AbortSignal | undefined,
): Promise<SnippetResult> {
  let snippet
  try {
    snippet = parseSnippet(request)
  } catch (thrown) {
    // A getter of it may have thrown.
    const reason = thrown instanceof InvalidSnippet ? thrown.message : 'The request could not be read.'
    return failure('INVALID_INPUT', reason)
  }
  signal?.throwIfAborted()
  const buffer = createOutputBuffer(snippet.outputKib * 1024)
  const { source, input, clock, randomness } = snippet
  const job = { ...usualVm, source, input, clock, randomness, output: buffer }
  const { end } = await run(job, snippet.wallMs)
  if (end.kind === 'cancelled') signal?.throwIfAborted()
  return describe(end, snippet, () => readOutput(buffer))
}

function describe(
  end: SnippetEnd,
  { source, wallMs, outputKib }: ParsedSnippet,
  output: () => string,
): SnippetResult {
  switch (end.kind) {
    case 'completed':
      return { output: output() }
    case 'failed':
      return failure('EVAL_ERROR', errorText(end.error) + hintFor(end, source))
    case 'timed-out':
      return failure('TIMEOUT', `execution exceeded ${wallMs} ms`)
    case 'output-full':
      return { output: output(), ...failure('OUTPUT_LIMIT', `output exceeded ${outputKib} KB`) }
    case 'out-of-memory':
      return failure('MEMORY_LIMIT', `memory exceeded ${usualVm.memoryBytes / 1024 / 1024} MiB`)
    case 'cancelled':
      throw new Error('A snippet was cancelled without a request to do so.')
  }
}

/** Explains features that are missing on purpose: the engine's own messages do not help the program's author. */
function hintFor({ phase, error }: Failed, source: string): string {
  const isCall = error.name === 'TypeError' && error.message === 'not a function'
  const isAbout = phase === 'syntax' ? /\bawait\b/ : isCall ? /\basync\b/ : undefined
  if (isAbout?.test(source) !== true) return ''
  return '; a snippet has no promises, so async functions and await do not work in it'
}

function errorText({ name, message, line, column }: GuestError): string {
  const separator = name === 'Uncaught' ? ' ' : ': '
  const place = line === undefined ? '' : ` (<code>:${line}:${column ?? 1})`
  return [name, message].filter((part) => part !== '').join(separator) + place
}

function failure(code: SnippetErrorCode, message: string): { readonly error: SnippetError } {
  return { error: { code, message } }
}
