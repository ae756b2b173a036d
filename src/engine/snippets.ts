/** Runs of the `snippet` runtime: an engine in WebAssembly in a thread of this process, where others have a cell. */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { OutputChunk, RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import { resolveLimits } from '../policy/resolve-limits.ts'
import type { LimitRules, ResolvedLimits } from '../policy/resolve-limits.ts'
import { Threads } from '../pool/threads.ts'
import type { ThreadsExit } from '../pool/threads.ts'
import { nothingKnown } from '../result/exit.ts'
import type { Exit } from '../result/exit.ts'
import { noFiles } from '../runtimes/collect/collect-files.ts'
import { misfit } from '../runtimes/registry.ts'
import { createOutputBuffer, readOutput } from '../runtimes/snippet/output-buffer.ts'
import { inputBytesMax, usualVm } from '../runtimes/snippet/thread-protocol.ts'
import { checkSizes } from './check-sizes.ts'
import { writeResult } from './write-result.ts'

export interface SnippetsOptions {
  readonly clock: Clock
  readonly rules: LimitRules
  /** Threads at one time. Default: one a core, from 2 to 8. None: every snippet is refused. */
  readonly threadsMax?: number | undefined
}

/** What crosses to the thread, and comes back, has to fit into the memory of its host side. */
const memoryBytesMax = 4 * usualVm.memoryBytes

/** What only a program in a cell can be given. */
const cellFields = ['args', 'files', 'collect', 'preload', 'stdin', 'env', 'functions'] as const

export class Snippets implements AsyncDisposable {
  readonly #options: SnippetsOptions
  readonly #threads: Threads

  constructor(options: SnippetsOptions) {
    this.#options = options
    this.#threads = new Threads(options)
  }

  /** Those that wait for a thread. */
  get waiting(): number {
    return this.#threads.waiting
  }

  /** Throws INVALID_REQUEST, INPUT_TOO_LARGE, RUNTIME_UNAVAILABLE, QUEUE_FULL, WORKER_LOST, DISPOSED. */
  async run(request: RunRequest, signal: AbortSignal): Promise<RunResult> {
    const { clock } = this.#options
    this.#requireThreads()
    const input = checkSnippet(request)
    const { limits, clamped } = this.#resolveLimits(request.limits ?? {})
    checkSizes(request, limits)
    checkInput(input, limits)
    const output = createOutputBuffer(limits.outputBytes)
    const job = { ...usualVm, memoryBytes: limits.memoryBytes, source: request.code, input, output }
    const turn = {
      wallMs: Math.min(limits.wallMs, limits.cpuMs ?? limits.wallMs),
      signal,
      client: request.client,
    }
    const threadExit = await this.#threads.run(job, turn)
    const exit = toExit(threadExit, limits, readOutput(output))
    await deliver(exit, request.onOutput)
    const { start, queuedMs } = threadExit
    const facts = {
      id: clock.id(),
      queuedMs,
      runtime: 'snippet',
      protection: 'wasm',
      limits,
      clamped,
    } as const
    return writeResult(facts, { exit, start, cgroupVersion: null, collected: noFiles })
  }

  async warmUp(count: number): Promise<void> {
    this.#requireThreads()
    return this.#threads.warmUp(count)
  }

  /** Ends the threads that wait for runs. */
  drain(): Promise<void> {
    return this.#threads.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }

  #requireThreads(): void {
    if (this.#options.threadsMax !== 0) return
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: 'The operator has switched snippets off: `pools.snippet.max` is 0.',
      hint: 'Choose another runtime, or raise it.',
    })
  }

  #resolveLimits(asked: Partial<Limits>): ResolvedLimits {
    const { rules } = this.#options
    const { ceilings } = rules
    const memoryBytes = Math.min(ceilings.memoryBytes ?? memoryBytesMax, memoryBytesMax)
    const inputBytes = Math.min(ceilings.inputBytes ?? inputBytesMax, inputBytesMax)
    return resolveLimits(asked, {
      defaults: { ...rules.defaults, memoryBytes: usualVm.memoryBytes },
      ceilings: { ...ceilings, memoryBytes, inputBytes },
    })
  }
}

/** The input. Throws INVALID_REQUEST. */
function checkSnippet(request: RunRequest): string {
  const { language, input = '', network = 'none' } = request
  if (language !== 'javascript') throw misfit('snippet', language, ['javascript'])
  const field = cellFields.find((name) => !isEmpty(request[name]))
  if (field !== undefined) throw refuse(`${field}: a snippet has none; choose another runtime.`)
  if (network !== 'none') throw refuse('network: a snippet has none; choose another runtime.')
  if (typeof input !== 'string')
    throw refuse('input: the input of a snippet is a string; JSON.stringify makes it one.')
  return input
}

const refuse = (detail: string): LazaretError => new LazaretError('INVALID_REQUEST', { detail })

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true
  return typeof value === 'string' ? value === '' : Object.keys(value as object).length === 0
}

function checkInput(input: string, { inputBytes }: Limits): void {
  const bytes = Buffer.byteLength(input)
  if (bytes <= inputBytes) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `input: ${bytes} bytes; inputBytes of a snippet is ${inputBytes}.`,
    hint: 'Send less; 8 MiB is the most that a snippet can take.',
  })
}

/** What `settle` decides on. All of it is from our side of the thread, but for the error. */
function toExit({ end, usage }: ThreadsExit, { wallMs, cpuMs }: Limits, stdout: string): Exit {
  const known: Exit = {
    ...nothingKnown,
    ...usage,
    cpuMs: usage.wallMs,
    stdout,
    outputBytes: Buffer.byteLength(stdout),
    layers: ['wasm', 'thread'],
  }
  switch (end.kind) {
    case 'completed':
      return { ...known, end: { by: 'exit', exitCode: 0 } }
    case 'failed':
      return { ...known, end: { by: 'exit', exitCode: 1 }, claims: { ...known.claims, error: end } }
    case 'timed-out':
      return { ...known, killReason: cpuMs !== null && cpuMs <= wallMs ? 'cpu' : 'wall' }
    case 'output-full':
      return { ...known, killReason: 'output', truncated: ['stdout'] }
    case 'out-of-memory':
      return { ...known, killReason: 'memory' }
    case 'cancelled':
      return { ...known, killReason: 'cancelled' }
  }
}

/** In one piece: what a snippet emits is there when it has ended. */
async function deliver({ stdout, wallMs }: Exit, onOutput: RunRequest['onOutput']): Promise<void> {
  if (onOutput === undefined || stdout === '') return
  const chunk: OutputChunk = { stream: 'stdout', bytes: Buffer.from(stdout), text: stdout, atMs: wallMs }
  await onOutput(chunk)
}
