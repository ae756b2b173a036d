/** Waiting requests, in a fair order: first come, first served within a client, and clients in turn. */

export class FairQueue<T> {
  /** The requests of each client, in the order of the clients' turns. No list is empty. */
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

  /** The first request of each client, in the order of their turns. */
  *firsts(): Iterable<T> {
    for (const [first] of this.#waiting.values()) if (first !== undefined) yield first
  }

  /** The client with the longest queue. */
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

  /** The next request that `suits` accepts. It stays in the queue. */
  find(suits: (item: T) => boolean): T | undefined {
    for (const own of this.#waiting.values()) {
      const item = own.find(suits)
      if (item !== undefined) return item
    }
    return undefined
  }

  /** Takes the next request that `suits` accepts. Its client moves to the end of the turns. */
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

  /** Returns whether the request was in the queue. */
  remove(client: string, item: T): boolean {
    const own = this.#waiting.get(client) ?? []
    const at = own.indexOf(item)
    if (at < 0) return false
    own.splice(at, 1)
    this.#length--
    if (own.length === 0) this.#waiting.delete(client)
    return true
  }

  /** Takes the first request of this client, which moves to the end of the turns. */
  takeFirst(client: string): T | undefined {
    const own = this.#waiting.get(client)
    const item = own?.shift()
    if (own === undefined || item === undefined) return undefined
    this.#length--
    this.#waiting.delete(client)
    if (own.length > 0) this.#waiting.set(client, own)
    return item
  }

  /** Takes the newest request of this client. */
  takeNewest(client: string): T | undefined {
    const own = this.#waiting.get(client) ?? []
    const item = own.at(-1)
    if (item !== undefined) this.remove(client, item)
    return item
  }
}
