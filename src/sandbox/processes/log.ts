/**
 * The output of a process: its last part is kept as bytes, and becomes text when somebody reads it. Followers get it chunk
 * by chunk, and share the chunks.
 */
import type { OutputChunk } from '../../core/request.ts'
import { runSteps } from '../../core/steps.ts'
import type { Steps } from '../../core/steps.ts'
import { decodeInBlocks } from '../../result/text-blocks.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { followerTurns } from './follower-turns.ts'
import type { LogRoom } from './log-room.ts'
import { firstPlace, makeBatch, streams } from './log-batch.ts'
import type { Batch, Place, StreamName } from './log-batch.ts'
import { LogStream } from './log-stream.ts'

export interface LogText {
  readonly stdout: string
  readonly stderr: string
  /** The streams whose older output is no longer kept. Absent if all of it is. */
  readonly truncated?: readonly StreamName[]
}

/** How much of an unfinished line is searched again. */
const lineBytesMax = 64 * 1024
const lineEnd = 10
/** Followers that keep up need one batch. */
const sharedBatchesMax = 4

export class Log {
  readonly #client: string
  readonly #kept: Readonly<Record<StreamName, LogStream>>
  /** The batches that followers have got last. */
  readonly #shared = new Map<Place, Batch>()
  #followers = 0
  #isOver = false
  #onNews = Promise.withResolvers<void>()

  constructor(room: Pick<LogRoom, 'reserve' | 'giveBack'>, client = '') {
    this.#client = client
    const parts = {
      order: { newest: 0 },
      reserve: (bytes: number) => room.reserve(bytes, this),
      giveBack: (bytes: number) => room.giveBack(bytes),
    }
    this.#kept = { stdout: new LogStream(parts), stderr: new LogStream(parts) }
  }

  /** The memory that it takes. */
  get bytes(): number {
    return this.#kept.stdout.bytes + this.#kept.stderr.bytes
  }

  add(stream: StreamName, bytes: Buffer, atMs: number): void {
    this.#kept[stream].add(bytes, atMs)
    this.#tell()
  }

  end(): void {
    this.#isOver = true
    for (const stream of streams) this.#kept[stream].finish()
    this.#tell()
  }

  /** Returns how much memory that frees. */
  dropOldest(): number {
    const { stdout, stderr } = this.#kept
    return stdout.bytes < stderr.bytes
      ? stderr.dropOldest() || stdout.dropOldest()
      : stdout.dropOldest() || stderr.dropOldest()
  }

  text(): LogText {
    return runSteps(this.textInSteps())
  }

  *textInSteps(): Steps<LogText> {
    const truncated = streams.filter((stream) => !this.#kept[stream].isComplete)
    const stdout = yield* decodeInBlocks(yield* this.#kept.stdout.copy(), 'utf8')
    const stderr = yield* decodeInBlocks(yield* this.#kept.stderr.copy(), 'utf8')
    return { stdout, stderr, ...(truncated.length > 0 && { truncated }) }
  }

  /** A slow reader misses output that has been dropped by then; the process does not wait for the reader. */
  async *follow(signal?: AbortSignal): AsyncGenerator<OutputChunk> {
    const onAbort = () => this.#tell()
    const isAborted = () => signal?.aborted === true
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#followers++
    try {
      let place = firstPlace
      for (let chunks = 1; !isAborted();) {
        await followerTurns.next(this.#client, chunks)
        const found = this.#batchFrom(place)
        chunks = found?.chunks.length ?? 1
        for (const chunk of found?.chunks ?? []) if (!isAborted()) yield chunk
        if (found !== undefined) place = found.next
        else if (this.#isOver) return
        else await this.#onNews.promise
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      if (--this.#followers === 0) this.#shared.clear()
    }
  }

  /**
   * Yields functions that read what was printed since the last time, of one stream after the other, each from the start
   * of a line. It reads once per pause, so the work is proportional to the output, however small its pieces are.
   */
  async *newLines(pause: () => Promise<void>, signal: AbortSignal): AsyncGenerator<() => Promise<Buffer>> {
    const from = { stdout: 0, stderr: 0 }
    const seen = { stdout: 0, stderr: 0 }
    const onAbort = () => this.#tell()
    signal.addEventListener('abort', onAbort, { once: true })
    while (!signal.aborted) {
      const news = this.#onNews.promise
      const isLast = this.#isOver
      for (const stream of streams) {
        const kept = this.#kept[stream]
        if (kept.end === seen[stream]) continue
        yield async () => {
          const end = (seen[stream] = kept.end)
          const bytes = await loopTurns.perform(kept.copy(from[stream]))
          const begun = bytes.length - 1 - bytes.lastIndexOf(lineEnd)
          from[stream] = end - Math.min(begun, lineBytesMax)
          return bytes
        }
      }
      if (isLast) return
      await news
      await pause()
    }
  }

  /** Undefined if there is nothing yet. Followers at the same place get the same chunks, even if more has come. */
  #batchFrom(place: Place): Batch | undefined {
    const known = this.#shared.get(place)
    if (known !== undefined) return known
    const made = makeBatch(this.#kept, place)
    if (made === undefined) return undefined
    this.#shared.set(place, made)
    for (const oldest of this.#shared.keys())
      if (this.#shared.size > sharedBatchesMax) this.#shared.delete(oldest)
    return made
  }

  #tell(): void {
    const news = this.#onNews
    this.#onNews = Promise.withResolvers()
    news.resolve()
  }
}
