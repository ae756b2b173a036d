/**
 * Lines for whoever reads standard output or standard error, such as a service manager's journal. They are written one after
 * another by the threads of libuv, so a reader that stalls does not hold the event loop.
 */
import { write } from 'node:fs'
import { promisify } from 'node:util'
import { systemClock } from '../core/clock.ts'

const writeTo = promisify(write)
/** What may wait for a reader that stalls. */
const waitingBytesMax = 1024 * 1024
/** Node sets pipes of its own standard streams to O_NONBLOCK. */
const fullMs = 10

export const standardStreams = { '/dev/stdout': 1, '/dev/stderr': 2 } as const
export type StandardStreamPath = keyof typeof standardStreams

export function isStandardStream(path: string): path is StandardStreamPath {
  return Object.hasOwn(standardStreams, path)
}

export class StandardStream {
  readonly #descriptor: number
  #waitingBytes = 0
  #last: Promise<unknown> = Promise.resolve()

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  static readonly #all = new Map<number, StandardStream>()

  /** One for each stream, so that lines of two writers do not mix. */
  static of(path: StandardStreamPath): StandardStream {
    const descriptor = standardStreams[path]
    const stream = StandardStream.#all.get(descriptor) ?? new StandardStream(descriptor)
    StandardStream.#all.set(descriptor, stream)
    return stream
  }

  /** Whether so much waits already that a line which may be lost should be. */
  get isFull(): boolean {
    return this.#waitingBytes > waitingBytesMax
  }

  /** Resolves when the kernel has the text. Rejects with the system's error, such as EPIPE. */
  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    this.#waitingBytes += bytes.length
    const written = this.#last.then(() => this.#writeAll(bytes))
    this.#last = written.catch(() => undefined)
    await written.finally(() => (this.#waitingBytes -= bytes.length))
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length;)
      try {
        done += (await writeTo(this.#descriptor, bytes, done)).bytesWritten
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        await new Promise<void>((resolve) => void systemClock.after(fullMs, resolve))
      }
  }
}
