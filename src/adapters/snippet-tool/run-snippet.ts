/** Runs one small program: text in, text out, and nothing else. */
import { availableParallelism } from 'node:os'

import { systemClock } from '../../core/clock.ts'
import type { GuestError } from '../../core/outcome.ts'
import { Threads } from '../../pool/threads.ts'
import { createOutputBuffer, readOutput } from '../../runtimes/snippet/output-buffer.ts'
import type { SnippetEnd } from '../../runtimes/snippet/thread.ts'
import { usualVm } from '../../runtimes/snippet/thread-protocol.ts'
import { InvalidSnippet, parseSnippet } from './parse-snippet.ts'
import type { ParsedSnippet } from './parse-snippet.ts'
import type { SnippetError, SnippetErrorCode, SnippetRequest, SnippetResult } from './snippet-types.ts'

const threadsMax = Math.min(Math.max(availableParallelism(), 2), 8)
let threads: Threads | undefined

export interface SnippetOptions {
  /** Aborting it ends the program. */
  readonly signal?: AbortSignal
}

/**
 * Runs a snippet: a script in JavaScript that reads its input with `read_input()` and answers with `emit(text)`, and
 * reaches nothing else. The same source and input give the same output, on every machine.
 *
 * It needs no jail: the program runs in an engine in WebAssembly, in a thread that is ended when the program does not
 * end. Threads are kept for the next snippets; they keep no process from ending.
 *
 * @returns What it emitted, or what became of it: it never rejects for what the program or the request is.
 * @throws {LazaretError} QUEUE_FULL when a thousand others wait; WORKER_LOST when no thread can be started. The
 *   signal's reason when that is aborted.
 * @example
 * ```ts
 * const { output } = await runSnippet({ source: 'emit(read_input().toUpperCase())', input: 'hello' })
 * ```
 */
export async function runSnippet(
  request: SnippetRequest,
  { signal }: SnippetOptions = {},
): Promise<SnippetResult> {
  let snippet
  try {
    snippet = parseSnippet(request)
  } catch (thrown) {
    if (thrown instanceof InvalidSnippet) return failure('INVALID_INPUT', thrown.message)
    throw thrown
  }
  signal?.throwIfAborted()
  const buffer = createOutputBuffer(snippet.outputKib * 1024)
  const job = { ...usualVm, ...snippet, output: buffer }
  const { end } = await getThreads().run(job, { wallMs: snippet.wallMs, signal })
  if (end.kind === 'cancelled') signal?.throwIfAborted()
  return describe(end, snippet, () => readOutput(buffer))
}

/** Resolves when a thread waits for a snippet, so that the first one starts as fast as those after it. */
export function warmUpSnippets(): Promise<void> {
  return getThreads().warmUp(1)
}

/** Ends the threads that are kept, and with them what still runs. The next snippet starts new ones. */
export async function endSnippetThreads(): Promise<void> {
  const ended = threads
  threads = undefined
  await ended?.[Symbol.asyncDispose]()
}

function getThreads(): Threads {
  threads ??= new Threads({ clock: systemClock, threadsMax })
  return threads
}

function describe(
  end: SnippetEnd,
  { wallMs, outputKib }: ParsedSnippet,
  output: () => string,
): SnippetResult {
  switch (end.kind) {
    case 'completed':
      return { output: output() }
    case 'failed':
      return failure('EVAL_ERROR', errorText(end.error))
    case 'timed-out':
      return failure('TIMEOUT', `execution exceeded ${wallMs} ms`)
    case 'output-full':
      return { output: output(), ...failure('OUTPUT_LIMIT', `output exceeded ${outputKib} KB`) }
    case 'out-of-memory':
      return failure('MEMORY_LIMIT', `memory exceeded ${usualVm.memoryBytes / 1024 / 1024} MiB`)
    case 'cancelled':
      throw new Error('A snippet was cancelled, and nobody had asked for it.')
  }
}

function errorText({ name, message, line, column }: GuestError): string {
  const separator = name === 'Uncaught' ? ' ' : ': '
  const place = line === undefined ? '' : ` (<code>:${line}:${column ?? 1})`
  return [name, message].filter((part) => part !== '').join(separator) + place
}

function failure(code: SnippetErrorCode, message: string): { readonly error: SnippetError } {
  return { error: { code, message } }
}
