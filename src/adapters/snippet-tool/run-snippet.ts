/** Runs one small program: text in, text out. */
import { systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { requireNode } from '../../engine/require-node.ts'
import { isAbortSignal, readInput } from '../../policy/hostile-input.ts'
import { performForAll } from '../../policy/standing-governors.ts'
import { Threads } from '../../pool/threads.ts'
import { governJob } from './govern-job.ts'
import { performSnippet } from './perform-snippet.ts'
import type { SnippetRequest, SnippetResult } from './snippet-types.ts'

/** The same bound as for runs. */
const clientLengthMax = 256

let threads: Threads | undefined

export interface SnippetOptions {
  /** Aborting it ends the program. */
  readonly signal?: AbortSignal | undefined
  /** The caller's name, for rate limits, audit and fairness. */
  readonly client?: string | undefined
}

/**
 * Runs a snippet: a script in JavaScript that reads its input with `read_input()` and answers with `emit(text)`, and
 * reaches nothing else. By default the same source and input give the same output, on every machine.
 *
 * It needs no jail: the program runs in a WebAssembly engine in a thread, which the host ends if the program does not
 * end. Threads are kept for later snippets, but do not keep the process alive.
 *
 * @returns What it emitted, or how it failed: it never rejects because of the program or the request.
 * @throws {LazaretError} INVALID_REQUEST for wrong options; NOT_ADMITTED, RATE_LIMITED or CIRCUIT_OPEN where the policy of a
 * Lazaret of this process refuses it; RUNTIME_UNAVAILABLE if Node is too old, or a Lazaret of this process has
 * `pools.snippet.max: 0`; QUEUE_FULL if a thousand others wait; WORKER_LOST if no thread can be started. The signal's
 * reason if it is aborted.
 * @example
 * ```ts
 * const { output } = await runSnippet({ source: 'emit(read_input().toUpperCase())', input: 'hello' })
 * ```
 */
export async function runSnippet(
  request: SnippetRequest,
  options: SnippetOptions = {},
): Promise<SnippetResult> {
  const signal = parseSignal(options)
  const run = governJob((job, wallMs) => getThreads().run(job, { wallMs, signal }), parseClient(options))
  return performSnippet(request, run, signal)
}

/** Resolves when a thread is ready, so that the first snippet starts as fast as later ones. */
export function warmUpSnippets(): Promise<void> {
  const id = systemClock.id()
  const work = { kind: 'warm-up', id, language: 'javascript', runtime: 'snippet', count: 1 } as const
  return performForAll(work, () => getThreads().warmUp(1))
}

/** Ends all threads, and the snippets in them. The next snippet starts new ones. */
export async function endSnippetThreads(): Promise<void> {
  const ended = threads
  threads = undefined
  await ended?.[Symbol.asyncDispose]()
}

function parseSignal(options: SnippetOptions): AbortSignal | undefined {
  const signal: unknown = readInput(() => options.signal)
  if (signal === undefined || isAbortSignal(signal)) return signal
  throw new LazaretError('INVALID_REQUEST', { detail: 'signal: must be an AbortSignal.' })
}

function parseClient(options: SnippetOptions): string | undefined {
  const client: unknown = readInput(() => options.client)
  if (client === undefined || (typeof client === 'string' && client.length <= clientLengthMax)) return client
  throw new LazaretError('INVALID_REQUEST', {
    detail: `client: must be a string of at most ${clientLengthMax} characters.`,
  })
}

function getThreads(): Threads {
  requireNode()
  threads ??= new Threads({ clock: systemClock })
  return threads
}
