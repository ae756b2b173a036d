/**
 * Resolves names as the host does: from /etc/hosts, otherwise by the name servers of /etc/resolv.conf. It does not use
 * libc, whose lookups block the few threads that Node also needs for files: a guest with slow names would stop the
 * host's file access. The number of lookups under way is bounded, in all and for each policy, and waiting policies take
 * turns, so that slow names of one client's many guests do not stop those of others.
 */
import { Resolver } from 'node:dns/promises'

import type { Clock } from '../../core/clock.ts'
import { HostsFile } from './hosts-file.ts'

/**
 * The addresses of a name, IPv4 first. Empty, or a rejection, if it has none. With `wantsAliases`, also the names that it
 * is an alias of.
 */
export type Lookup = (name: string, wantsAliases?: boolean) => Promise<readonly string[]>

const atOnceMax = 256
/** No real name has a longer chain of aliases. */
const aliasesMax = 16
/** Lookups of one policy at one time, so that its slow names do not delay others. */
const atOnceMaxOfOne = 16
const waitingMaxOfOne = 1024
/** How often the machine's configuration is read again. */
const resolverLifeMs = 10_000
const serverMs = 2000
const triesMax = 2

export class Lookups implements Disposable {
  readonly #clock: Clock
  readonly #lookup: Lookup
  readonly #hosts = new HostsFile()
  readonly #all = new Turns(atOnceMax)
  #resolver: Resolver | undefined
  #madeAt = 0

  constructor(clock: Clock, lookup?: Lookup) {
    this.#clock = clock
    this.#lookup = lookup ?? ((name, wantsAliases) => this.#ask(name, wantsAliases))
  }

  /** The lookups of one policy. The answer is empty if a name is not found or too many lookups wait. */
  openOne(): Lookup {
    const own = new Turns(atOnceMaxOfOne)
    const look: Lookup = (name, wantsAliases) =>
      own.take(own, () => this.#all.take(own, () => this.#lookup(name, wantsAliases)))
    return (name, wantsAliases) =>
      own.waiting < waitingMaxOfOne ? look(name, wantsAliases).catch(() => []) : Promise.resolve([])
  }

  [Symbol.dispose](): void {
    this.#resolver?.cancel()
  }

  async #ask(name: string, wantsAliases = false): Promise<readonly string[]> {
    const listed = this.#hosts.find(name)
    if (listed.length > 0) return listed
    return resolveName(this.#current(), name, wantsAliases)
  }

  #current(): Resolver {
    const isOld = this.#clock.now() - this.#madeAt > resolverLifeMs
    if (this.#resolver !== undefined && !isOld) return this.#resolver
    this.#madeAt = this.#clock.now()
    this.#resolver = new Resolver({ timeout: serverMs, tries: triesMax })
    return this.#resolver
  }
}

/** The addresses are those of the last alias, because the name itself may have other aliases at the next lookup. */
export async function resolveName(
  resolver: Resolver,
  name: string,
  wantsAliases: boolean,
): Promise<string[]> {
  const aliases = wantsAliases ? await followAliases(resolver, name) : []
  const last = aliases.at(-1) ?? name
  const [four, six] = await Promise.allSettled([resolver.resolve4(last), resolver.resolve6(last)])
  const addresses = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  return [...addresses, ...aliases]
}

/** Rejects if an alias cannot be looked up, because it might be denied. */
export async function followAliases(resolver: Resolver, name: string): Promise<string[]> {
  const aliases: string[] = []
  for (let last = name; aliases.length < aliasesMax;) {
    const [alias] = await resolver.resolveCname(last).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
      throw error
    })
    if (alias === undefined) return aliases
    aliases.push(alias)
    last = alias
  }
  throw new Error('The chain of aliases of this name is too long.')
}

/** Bounds the work at one time. Further work waits: first come, first served for one owner, and owners in turn. */
class Turns {
  readonly #most: number
  /** The work of each owner, in the order of the owners' turns. No list is empty. */
  readonly #waiting = new Map<object, (() => void)[]>()
  waiting = 0
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Rejects as `work` does. */
  async take<T>(owner: object, work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#most) this.#taken++
    // Work that ends passes its slot to the next.
    else await new Promise<void>((resolve) => this.#wait(owner, resolve))
    try {
      return await work()
    } finally {
      this.#pass()
    }
  }

  #wait(owner: object, begin: () => void): void {
    this.waiting++
    const own = this.#waiting.get(owner)
    if (own === undefined) this.#waiting.set(owner, [begin])
    else own.push(begin)
  }

  #pass(): void {
    const [next] = this.#waiting
    if (next === undefined) return void this.#taken--
    const [owner, [begin, ...rest]] = next
    this.waiting--
    this.#waiting.delete(owner)
    if (rest.length > 0) this.#waiting.set(owner, rest)
    begin?.()
  }
}
