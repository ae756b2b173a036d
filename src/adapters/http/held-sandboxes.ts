/**
 * The sandboxes that were made over HTTP, each found by its token and its name there. To other tokens they do not
 * exist: the names of two tokens never collide, since the engine has a separate name for each sandbox.
 */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { noRoom } from '../../core/errors/no-room.ts'
import type { Lazaret } from '../../engine/api.ts'
import { checkName } from '../../sandbox/checks.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { SandboxOptions } from '../../sandbox/types.ts'
import type { ApiToken } from './api-tokens.ts'

export interface HeldSandbox {
  /** The name by which its token knows it. */
  readonly id: string
  readonly sandbox: Sandbox
  readonly token: ApiToken
}

export interface HeldSandboxesParts {
  readonly lazaret: Lazaret
  readonly clock: Clock
  /** Sandboxes of one token at one time. */
  readonly most: number
  /** False for a token that was revoked after its request had begun. */
  readonly isValid: (token: ApiToken) => boolean
  readonly warn: (message: string) => void
}

export class HeldSandboxes {
  readonly #parts: HeldSandboxesParts
  readonly #held = new Map<string, HeldSandbox>()
  /** Sandboxes that are being created. */
  readonly #starting = new Map<string, ApiToken>()

  constructor(parts: HeldSandboxesParts) {
    this.#parts = parts
  }

  /** Throws what `sandbox()` throws, CLIENT_QUEUE_FULL where the token has too many, and UNAUTHENTICATED. */
  async create(token: ApiToken, asked: SandboxOptions): Promise<HeldSandbox> {
    const { lazaret, clock, most, isValid } = this.#parts
    if (!isValid(token)) throw new LazaretError('UNAUTHENTICATED')
    const own = clock.id()
    const id = checkName(asked.id, 'id') ?? own
    const key = keyOf(token, id)
    this.#forgetGone()
    if (this.#held.has(key) || this.#starting.has(key))
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a sandbox "${id}" already exists.` })
    const starting = [...this.#starting.values()].filter(({ hash }) => hash.equals(token.hash))
    if (this.list(token).length + starting.length >= most)
      throw noRoom(
        `The token already has ${most} sandboxes.`,
        'Destroy one that is no longer needed.',
        'CLIENT_QUEUE_FULL',
      )
    this.#starting.set(key, token)
    try {
      const sandbox = await lazaret.sandbox({ ...asked, id: own, client: token.name })
      const held = { id, sandbox, token }
      if (!isValid(token)) {
        this.#end(held)
        throw new LazaretError('UNAUTHENTICATED')
      }
      this.#held.set(key, held)
      return held
    } finally {
      this.#starting.delete(key)
    }
  }

  /** Throws NOT_FOUND, also for one that has ended. */
  find(token: ApiToken, id: string): HeldSandbox {
    const key = keyOf(token, id)
    const held = this.#held.get(key)
    if (held === undefined || held.sandbox.isGone) {
      this.#held.delete(key)
      throw new LazaretError('NOT_FOUND')
    }
    return held
  }

  /** Oldest first. */
  list(token: ApiToken): HeldSandbox[] {
    this.#forgetGone()
    return [...this.#held.values()].filter(({ token: { hash } }) => hash.equals(token.hash))
  }

  /** Ends the sandboxes of a token that is no longer valid. */
  endOf(token: ApiToken): void {
    for (const held of this.list(token)) this.#end(held)
  }

  #end({ sandbox }: HeldSandbox): void {
    sandbox.destroy().catch((error: unknown) => {
      this.#parts.warn(`a sandbox of a revoked token could not be ended: ${String(error)}`)
    })
  }

  #forgetGone(): void {
    for (const [key, { sandbox }] of this.#held) if (sandbox.isGone) this.#held.delete(key)
  }
}

function keyOf({ hash }: ApiToken, id: string): string {
  return `${hash.toString('hex')} ${id}`
}
