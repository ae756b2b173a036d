/** What a Lazaret reports to its observer. Without an observer, it prints a warning when a log cannot be written. */
import type { LazaretError } from '../core/errors/errors.ts'
import { messageOf } from '../core/primordials.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { Usage } from '../core/receipt.ts'
import type { SandboxWork, Work } from '../core/work.ts'
import type { LeftBehind } from '../jail/machine/machine.ts'
import type { WorkRecord } from '../observe/audit.ts'
import { sha256 } from '../observe/digest.ts'
import { readInput } from '../policy/hostile-input.ts'
import type { WorkerShape } from '../pool/shape.ts'
import type { LazaretEvent, LazaretOptions } from './options/options.ts'

export class Events {
  readonly #onEvent: LazaretOptions['onEvent']

  constructor(options: LazaretOptions) {
    this.#onEvent = readInput(() => options.onEvent)
  }

  readonly tellOfStart = (work: Work, queuedMs: number): void => {
    if (this.#onEvent === undefined) return
    const { kind, id } = work
    this.#tell({ type: 'work-started', kind, id, ...describeWork(work), queuedMs })
  }

  readonly tellOfWork = ({ work, end, wallMs }: WorkRecord): void => {
    if (this.#onEvent === undefined) return
    const { kind, id } = work
    const { outcome, code, exitCode, usage, limit, start, network, clamped = [] } = end
    const durationMs = usage?.wallMs ?? wallMs
    this.#tell({
      type: 'work-ended',
      ...{ kind, id, outcome, wallMs: durationMs },
      ...describeWork(work),
      ...(code === undefined ? {} : { code }),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(limit === undefined ? {} : { limit }),
      ...(start === undefined ? {} : { start }),
      ...(usage === undefined ? {} : describeUsage(usage)),
      ...(clamped.length === 0 ? {} : { clamped }),
      ...(network === undefined ? {} : { network }),
    })
    if (outcome !== 'timed-out') return
    const text = textOf(work)
    this.#tell({ type: 'timed-out', kind, id, ...clientOf(work), codeHash: sha256(text), durationMs })
  }

  readonly tellOfSandboxEnd = (work: SandboxWork): void => {
    this.#tell({ type: 'sandbox-ended', id: work.id, ...clientOf(work) })
  }

  tellOfFailing({ runtime, language }: WorkerShape, reason: unknown): void {
    this.#tell({ type: 'pool-failing', runtime: runtime.name, language, reason: messageOf(reason) })
  }

  tellOfZygote({ runtime, language }: WorkerShape, reason: unknown): void {
    this.#tell({ type: 'zygote-failing', runtime: runtime.name, language, reason: messageOf(reason) })
  }

  readonly tellOfAudit = ({ message, hint }: LazaretError): void => {
    this.#tell({ type: 'audit-failed', reason: message, fix: hint })
    if (this.#onEvent !== undefined) return
    process.emitWarning(message, { type: 'LazaretWarning', code: 'LAZARET_AUDIT_FAILED', detail: hint })
  }

  tellOfLowered(level: ProtectionLevel, { message, hint }: LazaretError): void {
    this.#tell({ type: 'protection-lowered', level, reason: message, fix: hint })
  }

  readonly tellOfSwept = (left: LeftBehind, hosts: number): void => {
    // Cgroups are removed before `createLazaret()` returns, but an observer may use the Lazaret that it returns.
    queueMicrotask(() => this.#tell({ type: 'leftovers-removed', left, hosts }))
  }

  /** Observers never decide: if one throws, the result is returned anyway. */
  #tell(event: LazaretEvent): void {
    try {
      this.#onEvent?.(event)
    } catch {
      // An error of the observer, which nothing else could handle.
    }
  }
}

function textOf(work: Work): string {
  if (work.kind === 'run') return work.spec.code
  if (work.kind === 'code') return work.code
  return 'command' in work ? work.command : ''
}

const clientOf = ({ client }: Pick<Work, 'client'>) => (client === undefined ? {} : { client })

function describeWork(work: Work) {
  return {
    ...clientOf(work),
    ...(work.kind === 'run' ? { language: work.spec.language, runtime: work.runtime } : {}),
    ...('sandbox' in work ? { sandbox: work.sandbox } : {}),
    ...(work.kind === 'code' || work.kind === 'context' ? { language: work.language } : {}),
    ...(work.kind === 'code' ? { context: work.context } : {}),
  }
}

function describeUsage({ queuedMs, cpuMs, memoryPeakBytes }: Usage) {
  return { queuedMs, cpuMs, memoryPeakBytes }
}
