/**
 * Searches for a pattern in lines that a guest printed. A string is found here, in linear time. A caller's regular
 * expression on guest text can backtrack for an unlimited time, so a thread runs it.
 */
import { Semaphore } from '../commands/semaphore.ts'
import { searchThreads } from './search-threads.ts'
import type { Search } from './search-threads.ts'

export interface LineSearch extends AsyncDisposable {
  /**
   * The first matching line of what it reads when its turn has come; the last one counts, too, unless it is empty.
   * Never resolves once disposed. Throws PATTERN_TOO_SLOW.
   */
  find(read: () => Promise<Buffer>): Promise<string | undefined>
}

/** Searches of one client take turns. */
export function createLineSearch(pattern: string | RegExp, client: string): LineSearch {
  return typeof pattern === 'string' ? new StringSearch(pattern) : new PatternSearch(pattern, client)
}

const lineEnd = 10
/** Searches that hold bytes at one time. */
const places = new Semaphore(2)

class StringSearch implements LineSearch {
  readonly #wanted: Buffer
  constructor(wanted: string) {
    this.#wanted = Buffer.from(wanted)
  }

  async find(read: () => Promise<Buffer>): Promise<string | undefined> {
    const release = await places.acquire()
    try {
      return this.#findIn(await read())
    } finally {
      release()
    }
  }

  #findIn(bytes: Buffer): string | undefined {
    const at = this.#wanted.includes(lineEnd) || bytes.length === 0 ? -1 : bytes.indexOf(this.#wanted)
    if (at < 0) return undefined
    const end = bytes.indexOf(lineEnd, at)
    const start = at === 0 ? 0 : bytes.lastIndexOf(lineEnd, at - 1) + 1
    return bytes.toString('utf8', start, end < 0 ? bytes.length : end)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

class PatternSearch implements LineSearch {
  readonly #pattern: Pick<Search, 'source' | 'flags' | 'client'>
  readonly #over = new AbortController()
  readonly #release = searchThreads.hold()

  constructor({ source, flags }: RegExp, client: string) {
    this.#pattern = { source, flags, client }
  }

  find(read: () => Promise<Buffer>): Promise<string | undefined> {
    return searchThreads.find({ ...this.#pattern, read, signal: this.#over.signal })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#release()
  }
}
