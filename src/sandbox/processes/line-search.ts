/**
 * Searches for a pattern in lines that a guest printed. A string is found here, in linear time. A caller's regular
 * expression on guest text can backtrack for an unlimited time, so a separate thread runs it, which is ended
 * with the wait.
 */
import { Worker } from 'node:worker_threads'

export interface LineSearch extends AsyncDisposable {
  /** The first matching line of the text; its last line counts, too, unless it is empty. Never resolves once disposed. */
  find(text: string): Promise<string | undefined>
}

export function createLineSearch(pattern: string | RegExp): LineSearch {
  return typeof pattern === 'string' ? new StringSearch(pattern) : new PatternSearch(pattern)
}

class StringSearch implements LineSearch {
  readonly #wanted: string
  constructor(wanted: string) {
    this.#wanted = wanted
  }

  find(text: string): Promise<string | undefined> {
    const at = this.#wanted.includes('\n') ? -1 : text.indexOf(this.#wanted)
    if (at < 0 || text === '') return Promise.resolve(undefined)
    const end = text.indexOf('\n', at)
    const start = text.lastIndexOf('\n', at - 1) + 1
    return Promise.resolve(text.slice(at === 0 ? 0 : start, end < 0 ? text.length : end))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? './line-search-thread.ts' : './line-search-thread.js',
  import.meta.url,
)

/** Room for the lines of one search, which may be the whole log. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

class PatternSearch implements LineSearch {
  readonly #pattern: { readonly source: string; readonly flags: string }
  #worker: Worker | undefined
  #isOver = false

  constructor({ source, flags }: RegExp) {
    this.#pattern = { source, flags }
  }

  async find(text: string): Promise<string | undefined> {
    // The wait may have ended already, and a thread that starts later would never be ended.
    if (this.#isOver) return await new Promise<never>(() => undefined)
    const worker = (this.#worker ??= this.#start())
    const answer = Promise.withResolvers<string | undefined>()
    worker.once('message', answer.resolve)
    worker.once('error', answer.reject)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- It is a thread, not a window.
    worker.postMessage(text)
    return await answer.promise.finally(() => worker.off('error', answer.reject))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#worker?.terminate()
  }

  #start(): Worker {
    return new Worker(threadFile, {
      workerData: this.#pattern,
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits,
    })
  }
}
