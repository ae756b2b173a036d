/** Runs of the `snippet` runtime: an engine in WebAssembly in a thread of this process, instead of a cell. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { OutputChunk, RunHandles, RunSpec } from '../../core/request.ts'
import { heldBy, threadGround } from '../../jail/limits/plan-limits.ts'
import { resolveLimits } from '../../policy/resolve-limits.ts'
import type { LimitRules, ResolvedLimits } from '../../policy/resolve-limits.ts'
import { Threads } from '../../pool/threads.ts'
import type { ThreadsExit } from '../../pool/threads.ts'
import { nothingKnown } from '../../result/exit.ts'
import type { Exit } from '../../result/exit.ts'
import { noFiles } from '../../runtimes/collect/collect-files.ts'
import type { Job } from '../../runtimes/work/guest-start.ts'
import { misfit } from '../../runtimes/registry.ts'
import { createOutputBuffer, readOutput } from '../../runtimes/snippet/output-buffer.ts'
import { inputBytesMax, usualVm } from '../../runtimes/snippet/thread-protocol.ts'
import { checkSizes } from '../options/check-sizes.ts'
import type { PlaceEnd, RunPlace, RunPlan, WarmUpPlan } from './run-place.ts'

export interface SnippetsOptions {
  readonly clock: Clock
  readonly rules: LimitRules
  /** Threads at one time. Default: one for each core, from 2 to 8. With 0 the policy refuses every snippet. */
  readonly threadsMax?: number | undefined
}

/** What crosses to the thread and back has to fit into the host's part of its memory. */
const memoryBytesMax = 4 * usualVm.memoryBytes

/** Fields of a request that need a cell. */
const cellFields = ['args', 'files', 'collect', 'preload', 'stdin', 'env', 'functionNames'] as const

export class Snippets implements RunPlace, AsyncDisposable {
  readonly protection = 'wasm'
  readonly #options: SnippetsOptions
  readonly #threads: Threads

  constructor(options: SnippetsOptions) {
    this.#options = options
    this.#threads = new Threads(options)
  }

  /** The number of queued snippets. */
  get waiting(): number {
    return this.#threads.waiting
  }

  plan(spec: RunSpec): RunPlan {
    const input = checkSnippet(spec)
    const { limits, clamped } = this.#resolveLimits(spec.limits ?? {})
    checkSizes(spec, limits)
    checkInput(input, limits)
    return { spec: { ...spec, input }, runtime: 'snippet', limits, clamped }
  }

  async run({ spec, handles, limits }: Job): Promise<PlaceEnd> {
    const input = spec.input as string
    const output = createOutputBuffer(limits.outputBytes)
    const job = { ...usualVm, memoryBytes: limits.memoryBytes, source: spec.code, input, output }
    const turn = {
      wallMs: Math.min(limits.wallMs, limits.cpuMs ?? limits.wallMs),
      signal: handles.signal,
      client: spec.client,
    }
    const threadExit = await this.#threads.run(job, turn)
    const exit = toExit(threadExit, limits, readOutput(output))
    await deliver(exit, handles.onOutput)
    const { start, queuedMs } = threadExit
    const kept = handles.keepOutput === false ? { ...exit, stdout: '' } : exit
    return { exit: kept, start, queuedMs, collected: noFiles, cleaned: Promise.resolve() }
  }

  planWarmUp(): WarmUpPlan {
    return { runtime: 'snippet', start: (count) => this.#threads.warmUp(count) }
  }

  /** Ends the idle threads. */
  drain(): Promise<void> {
    return this.#threads.drain()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
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
function checkSnippet(spec: RunSpec): string {
  const { language, input = '', network = 'none' } = spec
  if (language !== 'javascript') throw misfit('snippet', language, ['javascript'])
  const field = cellFields.find((name) => !isEmpty(spec[name]))
  if (field !== undefined)
    throw refuse(
      `${field === 'functionNames' ? 'functions' : field}: a snippet has none; choose another runtime.`,
    )
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
    hint: 'Send less: a snippet takes at most 8 MiB.',
  })
}

/** The evidence for `settle`. All of it comes from our side of the thread, except the error. */
function toExit({ end, usage }: ThreadsExit, limits: Limits, stdout: string): Exit {
  const { wallMs, cpuMs } = limits
  const known: Exit = {
    ...nothingKnown,
    ...usage,
    cpuMs: usage.wallMs,
    stdout,
    outputBytes: Buffer.byteLength(stdout),
    layers: ['wasm', 'thread'],
    heldBy: heldBy(limits, threadGround),
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

/** In one piece: a snippet's output is available only when it has ended. */
async function deliver({ stdout, wallMs }: Exit, onOutput: RunHandles['onOutput']): Promise<void> {
  if (onOutput === undefined || stdout === '') return
  const chunk: OutputChunk = { stream: 'stdout', bytes: Buffer.from(stdout), text: stdout, atMs: wallMs }
  await onOutput(chunk)
}
