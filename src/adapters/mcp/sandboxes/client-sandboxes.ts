/**
 * The sandboxes that clients keep between their calls. A handle cannot be guessed and works only for the client that created
 * it: a handle of another client gets the same error as one that never existed.
 */
import type { Clock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import { noRoom } from '../../../core/errors/no-room.ts'
import type { Lazaret } from '../../../engine/api.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'

export interface ClientSandboxesParts {
  readonly lazaret: Pick<Lazaret, 'sandbox'>
  readonly clock: Pick<Clock, 'id'>
  /** Sandboxes of each client at one time. */
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

  /** After this time a sandbox without calls ends. */
  get idleMs(): number {
    return this.#parts.idleMs ?? idleMsDefault
  }

  /**
   * Returns the handle. Throws QUEUE_FULL, and what `sandbox()` throws; SANDBOX_GONE if the call was cancelled meanwhile,
   * because the client would never learn the handle.
   */
  async create(client: string, signal: AbortSignal): Promise<string> {
    const { lazaret, clock, perClientMax } = this.#parts
    const starting = this.#starting.get(client) ?? 0
    if (this.#countOf(client) + starting >= perClientMax)
      throw noRoom(
        `The client has too many sandboxes: at most ${perClientMax}.`,
        `Continue in one that you have, or close one with close_sandbox. One without calls ends after ${Math.ceil(this.idleMs / 60_000)} min.`,
      )
    this.#starting.set(client, starting + 1)
    try {
      const sandbox = await lazaret.sandbox({ client, idleTimeoutMs: this.idleMs })
      if (signal.aborted) {
        await sandbox.destroy()
        throw new LazaretError('SANDBOX_GONE', { detail: 'The call was cancelled.' })
      }
      // Not the sandbox's id, because records and events contain it.
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

  /** Resolves when it has ended. Throws SANDBOX_GONE, END_FAILED. */
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
