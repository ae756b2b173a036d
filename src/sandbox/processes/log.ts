/** The output of a process: its last part is kept, and followers get it piece by piece. */
import type { OutputChunk } from '../../core/request.ts'
import type { Steps } from '../../core/steps.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'

export interface LogText {
  readonly stdout: string
  readonly stderr: string
}

/** How much is kept of each stream; older output is dropped. */
const keptBytes = 1024 * 1024
/** The overhead of a piece besides its bytes: a process may print single bytes. */
const pieceBytes = 64
/** How much of an unfinished line is searched again. */
const lineLengthMax = 64 * 1024

/** Collecting this many takes a fraction of a millisecond. */
const piecesPerStep = 512

interface Piece {
  /** Its place among the pieces of both streams, by arrival. */
  readonly number: number
  readonly chunk: OutputChunk
}

export class Log {
  readonly #kept = { stdout: new Pieces(), stderr: new Pieces() }
  #count = 0
  #isOver = false
  #onNews = Promise.withResolvers<void>()

  add(chunk: OutputChunk): void {
    this.#kept[chunk.stream].add({ number: this.#count++, chunk })
    this.#tell()
  }

  end(): void {
    this.#isOver = true
    this.#tell()
  }

  text(): LogText {
    return { stdout: this.#kept.stdout.text(), stderr: this.#kept.stderr.text() }
  }

  /** A slow reader misses output that has been dropped by then; the process does not wait for the reader. */
  async *follow(signal?: AbortSignal): AsyncGenerator<OutputChunk> {
    const onAbort = () => this.#tell()
    const isAborted = () => signal?.aborted === true
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      for (let from = 0; !isAborted();) {
        const piece = this.#next(from)
        if (piece !== undefined) {
          from = piece.number + 1
          yield piece.chunk
        } else if (this.#isOver) return
        else await this.#onNews.promise
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Yields what was printed since the last time, first to stdout, then to stderr, each from the start of a line. It reads
   * once per pause, so the work is proportional to the output, however small its pieces are.
   */
  async *newLines(pause: () => Promise<void>, signal: AbortSignal): AsyncGenerator<string> {
    const begun = { stdout: '', stderr: '' }
    const onAbort = () => this.#tell()
    signal.addEventListener('abort', onAbort, { once: true })
    for (let from = 0; !signal.aborted;) {
      const news = this.#onNews.promise
      const isLast = this.#isOver
      const before = this.#count
      const texts = await loopTurns.perform(this.#gather(from, before, begun))
      from = before
      for (const stream of ['stdout', 'stderr'] as const) {
        if (texts[stream] === begun[stream]) continue
        yield texts[stream]
        begun[stream] = texts[stream].slice(texts[stream].lastIndexOf('\n') + 1).slice(-lineLengthMax)
      }
      if (isLast) return
      await news
      await pause()
    }
  }

  /** Collects the pieces of a range of numbers, in steps, because many may wait for lines of the same flood. */
  *#gather(from: number, before: number, begun: LogText): Steps<LogText> {
    const texts = { ...begun }
    let count = 0
    for (let piece = this.#next(from); piece !== undefined; piece = this.#next(piece.number + 1)) {
      if (piece.number >= before) break
      texts[piece.chunk.stream] += piece.chunk.text
      if (++count % piecesPerStep === 0) yield
    }
    return texts
  }

  #next(from: number): Piece | undefined {
    const stdout = this.#kept.stdout.next(from)
    const stderr = this.#kept.stderr.next(from)
    if (stdout === undefined || stderr === undefined) return stdout ?? stderr
    return stdout.number < stderr.number ? stdout : stderr
  }

  #tell(): void {
    const news = this.#onNews
    this.#onNews = Promise.withResolvers()
    news.resolve()
  }
}

/** The pieces of one stream, the oldest first. */
class Pieces {
  #all: Piece[] = []
  /** The index of the oldest kept piece. Removing one piece from a list of thousands would move all the others. */
  #first = 0
  #bytes = 0

  add(piece: Piece): void {
    this.#all.push(piece)
    this.#bytes += costOf(piece)
    while (this.#bytes > keptBytes && this.#first < this.#all.length - 1)
      this.#bytes -= costOf(this.#all[this.#first++])
    if (this.#first <= this.#all.length / 2) return
    this.#all = this.#all.slice(this.#first)
    this.#first = 0
  }

  text(): string {
    return Buffer.concat(this.#all.slice(this.#first).map(({ chunk }) => chunk.bytes)).toString()
  }

  /** The first piece whose number is at least this. */
  next(number: number): Piece | undefined {
    let low = this.#first
    for (let high = this.#all.length; low < high;) {
      const middle = (low + high) >>> 1
      if ((this.#all[middle]?.number ?? 0) < number) low = middle + 1
      else high = middle
    }
    return this.#all[low]
  }
}

function costOf(piece: Piece | undefined): number {
  return piece === undefined ? 0 : piece.chunk.bytes.length + pieceBytes
}
