/** Who waits, in a fair order: first come, first served within a client, and clients in turn. */

export class FairQueue<T> {
  /** In the order in which the clients' turns come; none of the lists is empty. */
  readonly #waiting = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  get length(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0)
  }

  add(client: string, item: T): void {
    const own = this.#waiting.get(client)
    if (own === undefined) this.#waiting.set(client, [item])
    else own.push(item)
  }

  /** Who is next, of those that `suits`. It goes on waiting. */
  find(suits: (item: T) => boolean): T | undefined {
    for (const own of this.#waiting.values()) {
      const item = own.find(suits)
      if (item !== undefined) return item
    }
    return undefined
  }

  /** The next one, of those that `suits`; its client is the last to have a turn again. */
  take(suits: (item: T) => boolean = () => true): T | undefined {
    for (const [client, own] of this.#waiting) {
      const at = own.findIndex(suits)
      if (at < 0) continue
      const [item] = own.splice(at, 1)
      this.#waiting.delete(client)
      if (own.length > 0) this.#waiting.set(client, own)
      return item
    }
    return undefined
  }

  /** Whether it had been waiting. */
  remove(client: string, item: T): boolean {
    const own = this.#waiting.get(client) ?? []
    const at = own.indexOf(item)
    if (at < 0) return false
    own.splice(at, 1)
    if (own.length === 0) this.#waiting.delete(client)
    return true
  }
}
