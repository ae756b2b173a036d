/** The work of one sandbox, as its governor is told of it. */
import type { FileOperation } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Begun, Governor } from '../policy/governor.ts'
import type { CheckedExec } from './checks.ts'

export interface GovernedParts {
  readonly governor: Governor
  /** The sandbox's. */
  readonly id: string
  /** For whom it was created, where the caller has said so. */
  readonly client: string | undefined
  readonly nextId: () => string
}

export class Governed {
  readonly #parts: GovernedParts

  constructor(parts: GovernedParts) {
    this.#parts = parts
  }

  /** A command that is waited for. Throws what the policy throws, and what `act` throws. */
  command<T>(
    asked: { readonly command: string; readonly options: CheckedExec },
    act: () => Promise<T>,
    endOf: (result: T) => WorkEnd,
  ): Promise<T> {
    const { command, options } = asked
    const work = { ...this.#facts('command'), command, credentials: Object.keys(options.env) }
    return this.#parts.governor.perform(work, act, { endOf })
  }

  /** A command that goes on. Throws what the policy throws. */
  beginProcess(command: string): Promise<Begun> {
    return this.#parts.governor.begin({ ...this.#facts('process'), command, credentials: [] })
  }

  /** An operation on files. Throws what the policy throws. */
  beginFiles(operation: FileOperation, path: string): Promise<Begun> {
    return this.#parts.governor.begin({ ...this.#facts('files'), operation, path })
  }

  #facts<Kind extends string>(kind: Kind) {
    const { id: sandbox, client, nextId } = this.#parts
    return { kind, sandbox, client, id: nextId() } as const
  }
}
