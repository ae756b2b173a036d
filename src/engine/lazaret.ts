/** The story of a run: checked, bounded, admitted, executed behind a wall, settled from evidence. */
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { endInOrder, endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors.ts'
import { messageOf } from '../core/primordials.ts'
import { isAtLeast } from '../core/protection.ts'
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import { Machine } from '../jail/machine.ts'
import type { ProbeReport } from '../jail/probe-report.ts'
import { noAudit } from '../observe/audit.ts'
import type { Audit } from '../observe/audit.ts'
import { openPolicy } from '../policy/admit.ts'
import type { Policy } from '../policy/admit.ts'
import { requireEnforced } from '../policy/require-enforced.ts'
import { resolveLimits } from '../policy/resolve-limits.ts'
import { limitMechanisms } from '../result/receipt.ts'
import { chooseRuntime, needsCell } from '../runtimes/registry.ts'
import type { CellRequest } from '../runtimes/registry.ts'
import { Toolchains } from '../runtimes/toolchains.ts'
import type { BestWall } from '../jail/best-wall.ts'
import { Pools } from '../pool/pools.ts'
import type { PoolStats } from '../pool/pool.ts'
import { checkSizes } from './check-sizes.ts'
import { createDisposal } from './disposal.ts'
import { parseRequest } from './parse-request.ts'
import { parseOptions, warnsOfLowered } from './options.ts'
import type { LazaretEvent, LazaretOptions, ParsedOptions } from './options.ts'
import { probeMachine } from './probe.ts'
import { warnOfLowered } from './protection-lowered.ts'
import type { ProtectionLowered } from './protection-lowered.ts'
import { requireNode } from './require-node.ts'
import { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import { Snippets } from './snippets.ts'
import { parseSandbox } from './open-sandbox.ts'
import { parseWarmUp } from './warm-up.ts'
import type { WarmUpRequest } from './warm-up.ts'
import { writeResult } from './write-result.ts'

/** Runs untrusted code, each run behind its own kernel wall. */
export interface Lazaret extends AsyncDisposable {
  /**
   * Executes one piece of code once, in a cell of its own: one that waited for it, or a fresh one.
   *
   * Whatever the guest does is a value: `result.outcome`. Thrown is only what is not the guest's doing:
   * @throws {LazaretError} kind `refusal`: INVALID_REQUEST, INPUT_TOO_LARGE, RUNTIME_UNAVAILABLE, QUEUE_FULL, DISPOSED;
   *   kind `fault`: JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST.
   * @example
   * ```ts
   * const { outcome, value } = await lazaret.run({ language: 'python', code: 'sum(range(10))' })
   * ```
   */
  run(request: RunRequest): Promise<RunResult>
  /**
   * Resolves when workers wait for runs of this kind. They come by themselves from the second such run on; this is for
   * the first ones to find them too.
   *
   * @throws {LazaretError} INVALID_REQUEST; RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED or WORKER_LOST when none
   *   could be started.
   */
  warmUp(request: WarmUpRequest): Promise<void>
  /**
   * Creates a sandbox: a workspace that stays, in which commands run.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE, QUEUE_FULL,
   *   JAIL_UNAVAILABLE, CELL_FAILED, DISPOSED.
   * @example
   * ```ts
   * await using sandbox = await lazaret.sandbox({ files: { 'hello.py': 'print("hi")' } })
   * const { stdout } = await sandbox.exec('python3 hello.py')
   * ```
   */
  sandbox(options?: SandboxOptions): Promise<Sandbox>
  /** Those that have been created and not destroyed, or whose end has failed, oldest first. */
  listSandboxes(): readonly Sandbox[]
  /** Ends the workers that wait for runs. Resolves when nothing of them is left; runs go on, and new ones are served. */
  drain(): Promise<void>
  /** What runs and what waits, now. */
  stats(): LazaretStats
  /** What this machine offers and which level it reaches, found out by building a cell. Takes some 10 ms. */
  probe(): Promise<ProbeReport>
  /** Kills what still runs and waits until nothing of it is left. Throws END_FAILED otherwise; the next call tries again. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface LazaretStats {
  /** Runs between their request and their result. */
  readonly running: number
  /** Those of them that wait for a cell. */
  readonly waiting: number
  /** One entry for each kind of worker that is kept, see `LazaretOptions.pools`. */
  readonly pools: readonly PoolStats[]
}

/**
 * Creates a Lazaret for this machine.
 *
 * @throws {LazaretError} INVALID_REQUEST for options that are wrong, JAIL_UNAVAILABLE where cells cannot exist.
 * @example
 * ```ts
 * await using lazaret = createLazaret({ ceilings: { wallMs: 10_000 } })
 * ```
 */
export function createLazaret(options: LazaretOptions = {}): Lazaret {
  requireNode()
  const parsed = parseOptions(options)
  return new Engine(parsed, warnsOfLowered(options) ? warnOfLowered : undefined)
}

class Engine implements Lazaret {
  readonly #options: ParsedOptions
  readonly #clock: Clock
  readonly #machine: Machine
  readonly #toolchains: Toolchains
  readonly #policy: Policy = openPolicy
  readonly #pools: Pools
  readonly #sandboxes = new Sandboxes()
  readonly #snippets: Snippets
  readonly #end = endOnce(() => this.#endAll())
  #running = 0
  readonly #audit: Audit = noAudit
  readonly #disposal = createDisposal()
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #onLowered: ((event: ProtectionLowered) => void) | undefined

  constructor(options: ParsedOptions, onLowered: ((event: ProtectionLowered) => void) | undefined) {
    this.#options = options
    this.#onLowered = onLowered
    this.#clock = options.clock ?? systemClock
    this.#machine = new Machine({ uidRange: options.uidRange })
    this.#toolchains = new Toolchains(options.toolchains)
    const threadsMax = options.pools.snippet?.max
    this.#snippets = new Snippets({ clock: this.#clock, rules: options, threadsMax })
    this.#pools = new Pools({
      wall: this.#wall,
      clock: this.#clock,
      toolchains: this.#toolchains,
      readable: options.readable,
      sizes: options.pools,
      usual: resolveLimits({}, options).limits,
      onFailing: ({ runtime, language }, reason) =>
        this.#announce({ type: 'pool-failing', runtime: runtime.name, language, reason: messageOf(reason) }),
    })
  }

  async run(input: RunRequest): Promise<RunResult> {
    this.#running++
    try {
      return await this.#track(this.#run(input))
    } finally {
      this.#running--
    }
  }

  warmUp(input: WarmUpRequest): Promise<void> {
    return this.#track(this.#warmUp(input))
  }

  async #warmUp(input: WarmUpRequest): Promise<void> {
    this.#requireOpen()
    const { count = 1, ...request } = parseWarmUp(input)
    if (!needsCell(request)) return this.#snippets.warmUp(count)
    this.#requireLevel()
    const { limits } = resolveLimits(request.limits ?? {}, this.#options)
    const runtime = chooseRuntime(request, this.#toolchains)
    const shape = this.#pools.shapeOf({ preload: this.#options.preload, ...request }, runtime, limits)
    await this.#pools.warmUp(shape, count)
  }

  sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
    return this.#track(this.#sandbox(options))
  }

  async #sandbox(asked: SandboxOptions): Promise<Sandbox> {
    this.#requireOpen()
    this.#requireLevel()
    const ground = { wall: this.#wall, clock: this.#clock, toolchains: this.#toolchains }
    return this.#sandboxes.create(parseSandbox(asked, this.#options, ground))
  }

  listSandboxes(): readonly Sandbox[] {
    return this.#sandboxes.list()
  }

  drain(): Promise<void> {
    return this.#track(Promise.all([this.#pools.drain(), this.#snippets.drain()]).then(() => undefined))
  }

  stats(): LazaretStats {
    const { waiting, pools } = this.#pools.stats
    return { running: this.#running, waiting: waiting + this.#snippets.waiting, pools }
  }

  async #run(input: RunRequest): Promise<RunResult> {
    this.#requireOpen()
    const request = parseRequest(input)
    const disposal = this.#disposal.signal
    const signal = request.signal === undefined ? disposal : AbortSignal.any([disposal, request.signal])
    const result = needsCell(request)
      ? await this.#runInCell({ preload: this.#options.preload, ...request }, signal)
      : await this.#snippets.run(request, signal)
    await this.#audit.record(request, result)
    this.#announce({
      type: 'run-ended',
      id: result.id,
      outcome: result.outcome.kind,
      wallMs: result.usage.wallMs,
    })
    return result
  }

  async #runInCell(request: RunRequest & CellRequest, signal: AbortSignal): Promise<RunResult> {
    this.#requireLevel()
    const { limits, clamped } = resolveLimits(request.limits ?? {}, this.#options)
    requireEnforced(limits, limitMechanisms(this.#machine), this.#options.allowUnenforced)
    checkSizes(request, limits)
    const runtime = chooseRuntime(request, this.#toolchains)
    await using ticket = await this.#policy.admit(request)
    await using lease = await this.#pools.lease({ request, limits, runtime, signal })
    const end = await lease.run()
    void this.#track(end.cleaned)
    const facts = {
      id: this.#clock.id(),
      queuedMs: ticket.queuedMs + lease.queuedMs,
      runtime: runtime.name,
      protection: this.#machine.level,
      limits,
      clamped,
    }
    return writeResult(facts, end)
  }

  probe(): Promise<ProbeReport> {
    return this.#track(probeMachine(this.#wall, this.#toolchains))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort()
    await this.#end()
  }

  #endAll(): Promise<void> {
    return endInOrder('This Lazaret could not be ended', [
      ...[this.#snippets, this.#sandboxes, this.#pools].map((part) => () => part[Symbol.asyncDispose]()),
      async () => {
        while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished)
      },
      () => this.#machine[Symbol.asyncDispose](),
    ])
  }

  get #wall(): BestWall {
    return {
      machine: this.#machine,
      minimum: this.#options.minimumProtection,
      onRefusal: ({ message, hint }) => {
        const { level } = this.#machine
        const event = { type: 'protection-lowered', level, reason: message, fix: hint } as const
        this.#onLowered?.(event)
        this.#announce(event)
      },
    }
  }

  /** Observers never decide: one that throws does not take the result away. */
  #announce(event: LazaretEvent): void {
    try {
      this.#options.onEvent?.(event)
    } catch {
      // The observer's own mistake; there is nobody else to tell.
    }
  }

  #requireOpen(): void {
    if (this.#disposal.signal.aborted) throw new LazaretError('DISPOSED')
  }

  #requireLevel(): void {
    const { minimumProtection } = this.#options
    if (isAtLeast(this.#machine.level, minimumProtection)) return
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: `This machine reaches level ${this.#machine.level}; ${minimumProtection} is required.`,
      ...(this.#machine.refusal === undefined ? {} : { hint: this.#machine.refusal.hint }),
    })
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    )
    this.#unfinished.add(settled)
    void settled.then(() => this.#unfinished.delete(settled))
    return work
  }
}
