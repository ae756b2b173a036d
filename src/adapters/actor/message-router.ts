/** Delivers messages by address. */
import { LazaretError } from '../../core/errors/errors.ts'
import { readInput } from '../../policy/hostile-input.ts'
import type { Message, MessageResponse } from './message.ts'

export interface Actor {
  receive(message: Message): Promise<MessageResponse>
}

/** Delivers messages to the actors that are registered under their addresses. */
export class MessageRouter {
  readonly #actors = new Map<string, Actor>()

  /**
   * Replaces an actor that had this address before.
   *
   * @throws {LazaretError} INVALID_REQUEST if the address is not a non-empty string, or the actor has no `receive`.
   */
  register(address: string, actor: Actor): void {
    if (typeof address !== 'string' || address === '')
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'The address of an actor must be a non-empty string.',
      })
    if (typeof readInput(() => (actor as Partial<Actor> | undefined)?.receive) !== 'function')
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'An actor must have a method `receive`.',
      })
    this.#actors.set(address, actor)
  }

  /**
   * Delivers a message without waiting for its answer.
   *
   * @throws {LazaretError} INVALID_REQUEST when no actor is registered there.
   */
  send(message: Message): void {
    const actor = this.#find(message)
    // An error of the actor is dropped like any other answer.
    void (async () => actor.receive(message))().catch(() => undefined)
  }

  /**
   * Delivers a message and resolves with the answer.
   *
   * @throws {LazaretError} INVALID_REQUEST when no actor is registered there.
   */
  async ask(message: Message): Promise<MessageResponse> {
    return await this.#find(message).receive(message)
  }

  #find(message: Message): Actor {
    const to: unknown = readInput(() => message.to)
    const actor = typeof to === 'string' ? this.#actors.get(to) : undefined
    if (actor !== undefined) return actor
    throw new LazaretError('INVALID_REQUEST', {
      detail:
        typeof to === 'string'
          ? `No actor is registered as ${JSON.stringify(to.slice(0, 100))}.`
          : 'The message names no receiver.',
      hint: 'Register one with register(address, actor), and name its address in `to`.',
    })
  }
}
