/** What a Lazaret tells its observer, and what it warns of when there is none. */
import type { LazaretError } from '../core/errors.ts'
import { messageOf } from '../core/primordials.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { WorkRecord } from '../observe/audit.ts'
import { sha256 } from '../observe/digest.ts'
import { readInput } from '../policy/hostile-input.ts'
import type { WorkerShape } from '../pool/shape.ts'
import type { LazaretEvent, LazaretOptions } from './options.ts'

export class Events {
  readonly #onEvent: LazaretOptions['onEvent']
  /** Where nobody has named a level and nobody listens, a weaker wall must not come unnoticed. */
  readonly #warns: boolean

  constructor(options: LazaretOptions) {
    this.#onEvent = readInput(() => options.onEvent)
    this.#warns = this.#onEvent === undefined && readInput(() => options.minimumProtection === undefined)
  }

  readonly tellOfWork = ({ work, end, wallMs }: WorkRecord): void => {
    const { kind, id, client } = work
    const { outcome, code, exitCode, usage } = end
    const durationMs = usage?.wallMs ?? wallMs
    const named = client === undefined ? {} : { client }
    this.#tell({
      type: 'work-ended',
      ...{ kind, id, outcome, wallMs: durationMs },
      ...named,
      ...(code === undefined ? {} : { code }),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(work.kind === 'run' ? { runtime: work.runtime } : {}),
      ...(usage === undefined ? {} : { queuedMs: usage.queuedMs }),
    })
    if (outcome !== 'timed-out' || this.#onEvent === undefined) return
    const text = work.kind === 'run' ? work.spec.code : 'command' in work ? work.command : ''
    this.#tell({ type: 'timed-out', kind, id, ...named, codeHash: sha256(text), durationMs })
  }

  tellOfFailing({ runtime, language }: WorkerShape, reason: unknown): void {
    this.#tell({ type: 'pool-failing', runtime: runtime.name, language, reason: messageOf(reason) })
  }

  readonly tellOfAudit = ({ message, hint }: LazaretError): void => {
    this.#tell({ type: 'audit-failed', reason: message, fix: hint })
    if (this.#onEvent !== undefined) return
    process.emitWarning(message, { type: 'LazaretWarning', code: 'LAZARET_AUDIT_FAILED', detail: hint })
  }

  tellOfLowered(level: ProtectionLevel, { message, hint }: LazaretError): void {
    this.#tell({ type: 'protection-lowered', level, reason: message, fix: hint })
    if (!this.#warns) return
    process.emitWarning(`Runs are protected at level ${level} only. ${message}`, {
      type: 'LazaretWarning',
      code: 'LAZARET_PROTECTION_LOWERED',
      detail: `${hint} To accept the level, name it as minimumProtection.`,
    })
  }

  /** Observers never decide: one that throws does not take the result away. */
  #tell(event: LazaretEvent): void {
    try {
      this.#onEvent?.(event)
    } catch {
      // The observer's own mistake; there is nobody else to tell.
    }
  }
}
