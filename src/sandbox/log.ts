/** What a process has printed: its end is kept, and whoever follows it gets it piece by piece. */
import type { OutputChunk } from '../core/request.ts'

export interface LogText {
  readonly stdout: string
  readonly stderr: string
}

/** Of each stream; what is older goes. */
const keptBytes = 1024 * 1024

export class Log {
  #kept: OutputChunk[] = []
  #keptBytes = { stdout: 0, stderr: 0 }
  /** How many pieces have gone. */
  #gone = 0
  #isOver = false
  #onNews = Promise.withResolvers<void>()

  add(chunk: OutputChunk): void {
    this.#kept.push(chunk)
    this.#keptBytes[chunk.stream] += chunk.bytes.length
    while (this.#keptBytes[chunk.stream] > keptBytes) this.#drop(chunk.stream)
    this.#tell()
  }

  end(): void {
    this.#isOver = true
    this.#tell()
  }

  text(): LogText {
    const of = (stream: OutputChunk['stream']) =>
      Buffer.concat(
        this.#kept.filter((chunk) => chunk.stream === stream).map(({ bytes }) => bytes),
      ).toString()
    return { stdout: of('stdout'), stderr: of('stderr') }
  }

  /** Whoever is slow loses what has gone meanwhile, and nobody waits for it. */
  async *follow(signal?: AbortSignal): AsyncGenerator<OutputChunk> {
    const onAbort = () => this.#tell()
    const isAborted = () => signal?.aborted === true
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      for (let at = 0; !isAborted();) {
        const chunk = this.#kept[Math.max(0, at - this.#gone)]
        at = Math.max(at, this.#gone)
        if (chunk !== undefined) {
          at++
          yield chunk
        } else if (this.#isOver) return
        else await this.#onNews.promise
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Of both streams, whole ones and at last what has no end. */
  async *lines(signal?: AbortSignal): AsyncGenerator<string> {
    const begun = { stdout: '', stderr: '' }
    for await (const { stream, text } of this.follow(signal)) {
      const lines = (begun[stream] + text).split('\n')
      begun[stream] = (lines.pop() ?? '').slice(-keptBytes)
      yield* lines
      // A prompt has no end of line.
      if (begun[stream] !== '') yield begun[stream]
    }
  }

  /** The oldest of a stream becomes nothing, in its place, so that those who follow keep theirs. */
  #drop(stream: OutputChunk['stream']): void {
    const at = this.#kept.findIndex((chunk) => chunk.stream === stream && chunk.bytes.length > 0)
    const chunk = this.#kept[at]
    if (chunk === undefined) return
    this.#keptBytes[stream] -= chunk.bytes.length
    this.#kept[at] = { ...chunk, bytes: new Uint8Array(), text: '' }
    while (this.#kept[0]?.bytes.length === 0) {
      this.#kept.shift()
      this.#gone++
    }
  }

  #tell(): void {
    const news = this.#onNews
    this.#onNews = Promise.withResolvers()
    news.resolve()
  }
}
