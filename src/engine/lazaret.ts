/** The story of a run: checked, bounded, admitted, executed behind a wall, settled from evidence. */
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
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
import { chooseRuntime } from '../runtimes/registry.ts'
import { runInCell } from '../runtimes/run-in-cell.ts'
import { Toolchains } from '../runtimes/toolchains.ts'
import { behindBestWall } from './best-wall.ts'
import type { BestWall } from './best-wall.ts'
import { checkSizes } from './check-sizes.ts'
import { parseRequest } from './parse-request.ts'
import { parseOptions } from './options.ts'
import type { LazaretEvent, LazaretOptions, ParsedOptions } from './options.ts'
import { probeMachine } from './probe.ts'
import { writeResult } from './write-result.ts'

/** Runs untrusted code, each run behind its own kernel wall. */
export interface Lazaret extends AsyncDisposable {
  /**
   * Executes one piece of code once, in a fresh cell.
   *
   * Whatever the guest does is a value: `result.outcome`. Thrown is only what is not the guest's doing:
   * @throws {LazaretError} kind `refusal`: INVALID_REQUEST, INPUT_TOO_LARGE, RUNTIME_UNAVAILABLE, DISPOSED;
   *   kind `fault`: JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST.
   * @example
   * ```ts
   * const { outcome, value } = await lazaret.run({ language: 'python', code: 'sum(range(10))' })
   * ```
   */
  run(request: RunRequest): Promise<RunResult>
  /** What this machine offers and which level it reaches, found out by building a cell. Takes some 10 ms. */
  probe(): Promise<ProbeReport>
  /** Kills what still runs and waits until nothing of it is left. */
  [Symbol.asyncDispose](): Promise<void>
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
  const isUnexpected = options.minimumProtection === undefined && options.onEvent === undefined
  return new Engine(parseOptions(options), isUnexpected ? warn : undefined)
}

type ProtectionLowered = Extract<LazaretEvent, { type: 'protection-lowered' }>

/** Where nobody named a level and nobody listens, a weaker wall must not come unnoticed. */
function warn({ level, reason, fix }: ProtectionLowered): void {
  process.emitWarning(`Runs are protected at level ${level} only. ${reason}`, {
    type: 'LazaretWarning',
    code: 'LAZARET_PROTECTION_LOWERED',
    detail: `${fix} To accept the level, name it as minimumProtection.`,
  })
}

const nodeMin = [22, 12] as const

/** npm only warns of a Node that is too old. */
function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `Lazaret needs Node ${nodeMin.join('.')} or newer, and this is ${process.versions.node}.`,
    hint: 'Install a newer Node.',
  })
}

class Engine implements Lazaret {
  readonly #options: ParsedOptions
  readonly #clock: Clock
  readonly #machine: Machine
  readonly #toolchains: Toolchains
  readonly #policy: Policy = openPolicy
  readonly #audit: Audit = noAudit
  readonly #disposal = new AbortController()
  readonly #unfinished = new Set<Promise<unknown>>()

  readonly #onLowered: ((event: ProtectionLowered) => void) | undefined

  constructor(options: ParsedOptions, onLowered: ((event: ProtectionLowered) => void) | undefined) {
    this.#options = options
    this.#onLowered = onLowered
    this.#clock = options.clock ?? systemClock
    this.#machine = new Machine({ uidRange: options.uidRange })
    this.#toolchains = new Toolchains(options.toolchains)
  }

  run(input: RunRequest): Promise<RunResult> {
    return this.#track(this.#run(input))
  }

  async #run(input: RunRequest): Promise<RunResult> {
    this.#requireUsable()
    const request = parseRequest(input)
    const { limits, clamped } = resolveLimits(request.limits ?? {}, this.#options)
    requireEnforced(limits, limitMechanisms(this.#machine), this.#options.allowUnenforced)
    checkSizes(request, limits)
    const runtime = chooseRuntime(request, this.#toolchains)
    await using ticket = await this.#policy.admit(request)
    const signal = AbortSignal.any([
      this.#disposal.signal,
      ...(request.signal === undefined ? [] : [request.signal]),
    ])
    const context = { machine: this.#machine, clock: this.#clock, limits, readable: this.#options.readable }
    const end = await behindBestWall(this.#wall, (place) => {
      const program = runtime.prepare(request, limits, { toolchains: this.#toolchains, place })
      return runInCell(program, { ...request, signal }, { ...context, place })
    })
    void this.#track(end.cleaned)
    const facts = {
      id: this.#clock.id(),
      queuedMs: ticket.queuedMs,
      runtime: runtime.name,
      protection: this.#machine.level,
      limits,
      clamped,
    }
    const result = writeResult(facts, end)
    await this.#audit.record(request, result)
    this.#announce({
      type: 'run-ended',
      id: result.id,
      outcome: result.outcome.kind,
      wallMs: result.usage.wallMs,
    })
    return result
  }

  probe(): Promise<ProbeReport> {
    return this.#track(probeMachine(this.#wall, this.#toolchains))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort()
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished)
    await this.#machine[Symbol.asyncDispose]()
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

  #requireUsable(): void {
    if (this.#disposal.signal.aborted) throw new LazaretError('DISPOSED')
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
