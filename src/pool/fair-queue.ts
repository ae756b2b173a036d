/** Waiting requests, in a fair order: first come, first served within a client, and clients in turn. */

export class FairQueue<T> {
  /** In the order in which the clients' turns come; none of the lists is empty. */
  readonly #waiting = new Map<string, T[]>()
  #length = 0

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  get length(): number {
    return this.#length
  }

  /** How many clients wait. */
  get clients(): number {
    return this.#waiting.size
  }

  lengthOf(client: string): number {
    return this.#waiting.get(client)?.length ?? 0
  }

  /** The first of each client, in the order of their turns. */
  *firsts(): Iterable<T> {
    for (const [first] of this.#waiting.values()) if (first !== undefined) yield first
  }

  /** The client that has most waiting. */
  longest(): string | undefined {
    let longest: string | undefined
    for (const [client, { length }] of this.#waiting)
      if (longest === undefined || length > this.lengthOf(longest)) longest = client
    return longest
  }

  add(client: string, item: T): void {
    this.#length++
    const own = this.#waiting.get(client)
    if (own === undefined) this.#waiting.set(client, [item])
    else own.push(item)
  }

  /** The next request among those that `suits`. It continues to wait. */
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
      this.#length--
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
    this.#length--
    if (own.length === 0) this.#waiting.delete(client)
    return true
  }

  /** The first one of that client, which is the last to have a turn again. */
  takeFirst(client: string): T | undefined {
    const own = this.#waiting.get(client)
    const item = own?.shift()
    if (own === undefined || item === undefined) return undefined
    this.#length--
    this.#waiting.delete(client)
    if (own.length > 0) this.#waiting.set(client, own)
    return item
  }

  /** The one of that client that came last. */
  takeNewest(client: string): T | undefined {
    const own = this.#waiting.get(client) ?? []
    const item = own.at(-1)
    if (item !== undefined) this.remove(client, item)
    return item
  }
}
