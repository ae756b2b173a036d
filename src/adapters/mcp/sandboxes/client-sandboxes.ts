/**
 * The sandboxes that clients have between their calls. A handle cannot be guessed, and is known for the client that made it
 * alone: another's is refused in the same words as one that never was.
 */
import type { Clock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { Lazaret } from '../../../engine/api.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'

export interface ClientSandboxesParts {
  readonly lazaret: Pick<Lazaret, 'sandbox'>
  readonly clock: Pick<Clock, 'id'>
  /** Of each client at one time. */
  readonly perClientMax: number
  /** Default: a quarter of an hour. */
  readonly idleMs?: number
}

const idleMsDefault = 15 * 60_000

interface Held {
  readonly client: string
  readonly sandbox: Sandbox
}

export class ClientSandboxes implements AsyncDisposable {
  readonly #parts: ClientSandboxesParts
  readonly #held = new Map<string, Held>()
  readonly #starting = new Map<string, number>()

  constructor(parts: ClientSandboxesParts) {
    this.#parts = parts
  }

  /** The text of results about an expired sandbox. */
  get idleMs(): number {
    return this.#parts.idleMs ?? idleMsDefault
  }

  /**
   * Answers its handle. Throws QUEUE_FULL, and what `sandbox()` throws; SANDBOX_GONE when the client has wanted no answer
   * any more: it would never learn the handle.
   */
  async create(client: string, signal: AbortSignal): Promise<string> {
    const { lazaret, clock, perClientMax } = this.#parts
    const starting = this.#starting.get(client) ?? 0
    if (this.#countOf(client) + starting >= perClientMax)
      throw new LazaretError('QUEUE_FULL', {
        detail: `A client has at most ${perClientMax} sandboxes: close one.`,
      })
    this.#starting.set(client, starting + 1)
    try {
      const sandbox = await lazaret.sandbox({ client, idleTimeoutMs: this.idleMs })
      if (signal.aborted) {
        await sandbox.destroy()
        throw new LazaretError('SANDBOX_GONE', { detail: 'The call was cancelled.' })
      }
      // Not its id, which records and events name.
      const handle = clock.id()
      this.#held.set(handle, { client, sandbox })
      return handle
    } finally {
      const left = (this.#starting.get(client) ?? 1) - 1
      if (left > 0) this.#starting.set(client, left)
      else this.#starting.delete(client)
    }
  }

  /** Throws SANDBOX_GONE. */
  get(client: string, handle: string): Sandbox {
    const held = this.#held.get(handle)
    if (held?.client === client && held.sandbox.isAlive) return held.sandbox
    throw new LazaretError('SANDBOX_GONE', {
      detail: 'There is no sandbox with this id: it was closed, or was idle for too long.',
      hint: 'Create one with create_sandbox.',
    })
  }

  /** Resolves when nothing of it is left. Throws SANDBOX_GONE, END_FAILED. */
  async close(client: string, handle: string): Promise<void> {
    const sandbox = this.get(client, handle)
    this.#held.delete(handle)
    await sandbox.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#held.values()]
    this.#held.clear()
    await Promise.allSettled(all.map(({ sandbox }) => sandbox.destroy()))
  }

  #countOf(client: string): number {
    for (const [handle, { sandbox }] of this.#held) if (!sandbox.isAlive) this.#held.delete(handle)
    return [...this.#held.values()].filter((held) => held.client === client).length
  }
}
