/** Pending calls into a sandbox: they start only while it exists, and end at the latest when it is gone. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Activity } from '../activity.ts'

export class Unfinished {
  readonly #id: string
  readonly #activity: Activity
  readonly #waits = new Set<PromiseWithResolvers<never>>()
  #isAlive = true

  constructor(id: string, activity: Activity) {
    this.#id = id
    this.#activity = activity
  }

  /** Whether work may begin. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Throws SANDBOX_GONE. */
  requireAlive(): void {
    if (!this.#isAlive) throw new LazaretError('SANDBOX_GONE', { detail: `Sandbox ${this.#id}.` })
  }

  /** Work that fails after the end has begun fails with SANDBOX_GONE. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.requireAlive()
    const wait = Promise.withResolvers<never>()
    this.#waits.add(wait)
    try {
      return await Promise.race([this.#activity.during(work), wait.promise])
    } catch (error) {
      throw this.#isAlive ? error : new LazaretError('SANDBOX_GONE', { cause: error })
    } finally {
      this.#waits.delete(wait)
    }
  }

  /** From now on no work begins. */
  close(): void {
    this.#isAlive = false
  }

  /**
   * The sandbox is gone. But a command that has ended may still wait for a caller who never reads its
   * output.
   */
  end(): void {
    for (const { reject } of this.#waits) reject(new LazaretError('SANDBOX_GONE'))
  }
}
