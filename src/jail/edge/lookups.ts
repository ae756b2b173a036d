/**
 * Resolves names as the host does: from /etc/hosts, otherwise by the name servers of /etc/resolv.conf. It does not use
 * libc, whose lookups block the few threads that Node also needs for files: a guest with slow names would stop the
 * host's file access. The number of lookups under way is bounded, in all and for each policy.
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
const waitingMax = 1024
/** No real name has a longer chain of aliases. */
const aliasesMax = 16
/** Lookups of one policy at one time, so that its slow names do not delay others. */
const atOnceMaxOfOne = 16
/** How often the machine's configuration is read again. */
const resolverLifeMs = 10_000
const serverMs = 2000
const triesMax = 2

export class Lookups implements Disposable {
  readonly #clock: Clock
  readonly #lookup: Lookup
  readonly #hosts = new HostsFile()
  readonly #all = new Semaphore(atOnceMax)
  #resolver: Resolver | undefined
  #madeAt = 0

  constructor(clock: Clock, lookup?: Lookup) {
    this.#clock = clock
    this.#lookup = lookup ?? ((name, wantsAliases) => this.#ask(name, wantsAliases))
  }

  /** The lookups of one policy. The answer is empty if a name is not found or too many lookups wait. */
  openOne(): Lookup {
    const own = new Semaphore(atOnceMaxOfOne)
    return (name, wantsAliases) =>
      own.take(() => this.#all.take(() => this.#lookup(name, wantsAliases))).catch(() => [])
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

/** Bounds the work at one time. Further work waits in turn. */
class Semaphore {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Rejects if too many wait, or as `work` does. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#most) this.#taken++
    else if (this.#waiting.length >= waitingMax) throw new Error('Too many names are looked up.')
    // Work that ends passes its slot to the next.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}
