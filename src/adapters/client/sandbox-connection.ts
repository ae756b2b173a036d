/**
 * Requests about one sandbox. NOT_FOUND there means that the sandbox is gone, unless the caller asked for something
 * inside it.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Asked, Connection } from './connection.ts'

export class SandboxConnection {
  readonly connection: Connection
  readonly #base: string

  constructor(connection: Connection, id: string) {
    this.connection = connection
    this.#base = `/v1/sandboxes/${encodeURIComponent(id)}`
  }

  pathOf(rest: string): string {
    return this.#base + rest
  }

  async send(asked: Asked): Promise<Response> {
    try {
      return await this.connection.send({ ...asked, path: this.pathOf(asked.path) })
    } catch (error) {
      throw goneIfMissing(error)
    }
  }

  async sendJson<T>(asked: Asked): Promise<T> {
    try {
      return await this.connection.sendJson<T>({ ...asked, path: this.pathOf(asked.path) })
    } catch (error) {
      throw goneIfMissing(error)
    }
  }

  /** Undefined if it does not exist. */
  async find<T>(asked: Asked): Promise<T | undefined> {
    try {
      return await this.sendJson<T>(asked)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
}

export function isMissing(error: unknown): boolean {
  return (
    error instanceof LazaretError &&
    ['NOT_FOUND', 'SANDBOX_GONE', 'SESSION_GONE', 'CONTEXT_GONE'].includes(error.code)
  )
}

export function goneIfMissing(error: unknown): unknown {
  return error instanceof LazaretError && error.code === 'NOT_FOUND'
    ? new LazaretError('SANDBOX_GONE')
    : error
}
