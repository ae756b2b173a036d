/** An audit log on standard output or standard error. Each start begins a chain of its own, with sequence 1. */
import { chainStart, writeLines } from './audit-line.ts'
import type { Entry } from './audit-line.ts'
import { StandardStream } from './standard-stream.ts'
import type { StandardStreamPath } from './standard-stream.ts'

export class AuditStream {
  readonly #stream: StandardStream
  #end = chainStart
  readonly isOpen = true

  constructor(path: StandardStreamPath) {
    this.#stream = StandardStream.of(path)
  }

  async open(): Promise<void> {}

  /** Throws the system's error, for example when nobody reads any more. */
  async append(entries: readonly Entry[], lost: number): Promise<void> {
    const { text, end } = writeLines(this.#end, entries, lost === 0 ? {} : { lost })
    await this.#stream.write(text)
    this.#end = end
  }

  /** The descriptor is the process's. */
  close(): void {}
}
