/** Runs one small program: text in, text out, and nothing else. */
import { systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors.ts'
import type { RunWork } from '../../core/work.ts'
import type { WorkEnd } from '../../core/work-end.ts'
import { requireNode } from '../../engine/require-node.ts'
import { isAbortSignal, readInput } from '../../policy/hostile-input.ts'
import { performForAll } from '../../policy/standing-governors.ts'
import { Threads } from '../../pool/threads.ts'
import type { SnippetEnd } from '../../runtimes/snippet/thread.ts'
import type { SnippetJob } from '../../runtimes/snippet/thread-protocol.ts'
import { performSnippet } from './perform-snippet.ts'
import type { RunJob } from './perform-snippet.ts'
import type { SnippetRequest, SnippetResult } from './snippet-types.ts'

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
 * @throws {LazaretError} INVALID_REQUEST for wrong options; NOT_ADMITTED where a Lazaret of this process has an `admit`
 *   that refuses it; RUNTIME_UNAVAILABLE on a Node that is too old; QUEUE_FULL when
 *   a thousand others wait; WORKER_LOST when no thread can be started. The signal's reason when that is aborted.
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
  const run: RunJob = (job, wallMs) =>
    performForAll(describeJob(job, wallMs), () => getThreads().run(job, { wallMs, signal }), endOf)
  return performSnippet(request, run, signal)
}

/** Resolves when a thread waits for a snippet, so that the first one starts as fast as those after it. */
export function warmUpSnippets(): Promise<void> {
  const id = systemClock.id()
  const work = { kind: 'warm-up', id, language: 'javascript', runtime: 'snippet', count: 1 } as const
  return performForAll(work, () => getThreads().warmUp(1))
}

/** Ends the threads that are kept, and with them what still runs. The next snippet starts new ones. */
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

function describeJob({ source, input }: SnippetJob, wallMs: number): RunWork {
  const spec = { code: source, language: 'javascript', runtime: 'snippet', input } as const
  return { kind: 'run', id: systemClock.id(), runtime: 'snippet', limits: { wallMs }, spec }
}

function endOf({ end }: { readonly end: SnippetEnd }): WorkEnd {
  if (end.kind === 'output-full') return { outcome: 'limit-exceeded' }
  return { outcome: end.kind === 'failed' && end.phase === 'syntax' ? 'syntax-error' : end.kind }
}

function getThreads(): Threads {
  requireNode()
  threads ??= new Threads({ clock: systemClock })
  return threads
}
