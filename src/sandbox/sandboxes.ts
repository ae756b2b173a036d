/** The sandboxes of one Lazaret. */
import { endTogether } from '../core/endings.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { noRoom } from '../core/errors/no-room.ts'
import { Sandbox } from './sandbox.ts'
import type { SandboxParts } from './sandbox-parts.ts'

const sandboxesMax = 256

export class Sandboxes implements AsyncDisposable {
  readonly #all = new Map<string, Sandbox>()
  readonly #starting = new Map<string, Promise<unknown>>()
  #isClosed = false

  /** Throws INVALID_REQUEST if the name is taken, QUEUE_FULL, DISPOSED. */
  async create(parts: Omit<SandboxParts, 'onGone'>, onGone: () => void): Promise<Sandbox> {
    if (this.#isClosed) throw new LazaretError('DISPOSED')
    const { id } = parts
    if (this.#all.has(id) || this.#starting.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a sandbox "${id}" already exists.` })
    if (this.#all.size + this.#starting.size >= sandboxesMax)
      throw noRoom(`There are ${sandboxesMax} sandboxes.`, 'Destroy one that is no longer needed.')
    const forget = () => {
      this.#all.delete(id)
      onGone()
    }
    const starting = Sandbox.create({ ...parts, onGone: forget })
    this.#starting.set(id, starting)
    try {
      const sandbox = await starting
      this.#all.set(id, sandbox)
      return sandbox
    } finally {
      this.#starting.delete(id)
    }
  }

  list(): Sandbox[] {
    return [...this.#all.values()].filter(({ isAlive, isStuck }) => isAlive || isStuck)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#starting.values())
    await endTogether(
      'Sandboxes could not be ended',
      [...this.#all.values()].map((sandbox) => () => sandbox.destroy()),
    )
  }
}
