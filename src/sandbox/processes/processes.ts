/** The processes that were started to run in the background: a server, a watcher, a terminal. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { OutputChunk } from '../../core/request.ts'
import type { SignalName } from './signal-name.ts'
import { untilAborted } from '../../core/abort.ts'
import type { TerminalSize } from '../../jail/cell/guest-process.ts'
import {
  checkAbort,
  checkBytes,
  checkKeys,
  checkMilliseconds,
  checkPattern,
  checkSignal,
  checkSize,
  refuse,
} from '../checks.ts'
import type { Command } from '../commands/command.ts'
import type { CommandEnd } from '../commands/command-end.ts'
import { createLineSearch } from './line-search.ts'
import type { Log, LogText } from './log.ts'

/** Options for Lazaret's own servers, whose client may disconnect while it waits. */
export interface EndableWait extends WaitOptions {
  /** Ends the wait, but not the process. */
  readonly signal?: AbortSignal
}

/** `completed` with exit code 0, `failed` with another, `killed` by a signal. */
export type ProcessStatus = 'running' | 'completed' | 'failed' | 'killed'

export interface WaitOptions {
  /** Milliseconds; default 30 000. */
  readonly timeout?: number
}

/** A background process of a sandbox. */
export interface SandboxProcess {
  readonly id: string
  /** Its number among the processes of the sandbox. */
  readonly pid: number
  readonly command: string
  readonly status: ProcessStatus
  /** When it has ended. */
  readonly exitCode: number | undefined
  /** Sends a signal to it and everything that it has started. Default SIGTERM; SIGKILL ends all of them. */
  kill(signal?: SignalName): void
  /** The end of its output: at most 1 MiB of each stream. */
  getLogs(): LogText
  /** Its earlier and later output, until it ends. */
  streamLogs(options?: { readonly signal?: AbortSignal }): AsyncIterable<OutputChunk>
  /** Resolves with its exit code. */
  waitForExit(options?: WaitOptions): Promise<{ readonly exitCode: number }>
  /** Resolves when something listens on this TCP port of the sandbox's loopback. */
  waitForPort(port: number, options?: WaitOptions): Promise<void>
  /**
   * Resolves with the first matching line of its earlier or later output; of an unfinished line, with the last
   * 64 KiB. A regular expression is matched in its own thread, which the timeout ends.
   */
  waitForLog(pattern: string | RegExp, options?: WaitOptions): Promise<{ readonly line: string }>
  /**
   * Types into its terminal, or writes to its standard input, which stays open unless `stdin` was given.
   * Resolves when there is room for more, and also if the process has ended and nothing was written: check `status`.
   */
  write(text: string | Uint8Array): Promise<void>
  resize(size: TerminalSize): void
}

export interface ProcessParts {
  readonly id: string
  readonly command: string
  readonly process: Command
  readonly log: Log
  /** Whether `write` reaches it. */
  readonly takesInput: boolean
  /** Resolves with whether anything listens there. */
  readonly isListening: (port: number) => Promise<boolean>
  /** Marks that a caller waits for something, until the returned function is called. */
  readonly enter: () => () => void
  readonly after: (ms: number, callback: () => void) => () => void
}

const waitMs = 30_000
const portPauseMs = 25
/** Batches output, so that the log of a process that prints single bytes is not searched for each byte. */
const logPauseMs = 5

export class BackgroundProcess implements SandboxProcess {
  readonly id: string
  readonly command: string
  readonly #parts: ProcessParts
  readonly #ended: Promise<CommandEnd | undefined>
  #end: CommandEnd | undefined
  #isOver = false

  constructor(parts: ProcessParts) {
    this.#parts = parts
    this.id = parts.id
    this.command = parts.command
    this.#ended = parts.process.ended.then(
      (end) => this.#finish(end),
      () => this.#finish(undefined),
    )
  }

  /** Resolves when it has ended, and its output has been read. */
  get ended(): Promise<CommandEnd | undefined> {
    return this.#ended
  }

  get pid(): number {
    return this.#parts.process.pid
  }

  get status(): ProcessStatus {
    if (!this.#isOver) return 'running'
    if (this.#end === undefined || this.#end.outcome.kind !== 'completed') return 'killed'
    return this.#end.exitCode === 0 ? 'completed' : 'failed'
  }

  get exitCode(): number | undefined {
    return this.#isOver ? (this.#end?.exitCode ?? 137) : undefined
  }

  /** Its JSON form, for `JSON.stringify()`. */
  toJSON(): Pick<SandboxProcess, 'id' | 'pid' | 'command' | 'status' | 'exitCode'> {
    const { id, pid, command, status, exitCode } = this
    return { id, pid, command, status, exitCode }
  }

  kill(signal: SignalName = 'SIGTERM'): void {
    if (checkSignal(signal) === 'SIGKILL') this.#parts.process.kill()
    else this.#parts.process.signal(signal)
  }

  getLogs(): LogText {
    return this.#parts.log.text()
  }

  async *streamLogs(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<OutputChunk> {
    const { signal } = checkKeys(options, ['signal'])
    checkAbort(signal)
    const leave = this.#parts.enter()
    try {
      yield* this.#parts.log.follow(signal)
    } finally {
      leave()
    }
  }

  async waitForExit(options: EndableWait = {}): Promise<{ readonly exitCode: number }> {
    await this.#within(options, 'end', this.ended)
    return { exitCode: this.exitCode ?? 137 }
  }

  async waitForPort(port: number, options: EndableWait = {}): Promise<void> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refuse('port: must be from 1 to 65535')
    const wanted = { is: true }
    const look = async () => {
      while (wanted.is && !(await this.#isListening(port))) {
        if (this.#isOver) throw this.#tooEarly(`anything listened on port ${port}`)
        await new Promise<void>((resolve) => this.#parts.after(portPauseMs, resolve))
      }
    }
    try {
      await this.#within(options, `listen on port ${port}`, look())
    } finally {
      wanted.is = false
    }
  }

  async waitForLog(pattern: string | RegExp, options: EndableWait = {}): Promise<{ readonly line: string }> {
    await using search = createLineSearch(checkPattern(pattern))
    const abort = new AbortController()
    const pause = () => new Promise<void>((resolve) => this.#parts.after(logPauseMs, resolve))
    const look = async () => {
      for await (const text of this.#parts.log.newLines(pause, abort.signal)) {
        const line = await search.find(text)
        if (line !== undefined) return { line }
      }
      throw this.#tooEarly('it printed such a line')
    }
    try {
      return await this.#within(options, 'print such a line', look())
    } finally {
      abort.abort()
    }
  }

  async write(text: string | Uint8Array): Promise<void> {
    if (!this.#parts.takesInput)
      throw refuse('write: its whole standard input was passed as `stdin` when it started')
    await this.#parts.process.write(checkBytes(text))
  }

  resize(size: TerminalSize): void {
    this.#parts.process.resize(checkSize(size))
  }

  #finish(end: CommandEnd | undefined): CommandEnd | undefined {
    this.#end = end
    this.#isOver = true
    this.#parts.log.end()
    return end
  }

  /** Once the process has ended, perhaps with its sandbox, no process is left to inspect. */
  async #isListening(port: number): Promise<boolean> {
    try {
      return await this.#parts.isListening(port)
    } catch (error) {
      if (this.#isOver) return false
      throw error
    }
  }

  #tooEarly(what: string): LazaretError {
    return new LazaretError('PROCESS_ENDED', {
      detail: `Process ${this.id} ended with exit code ${this.exitCode} before ${what}.`,
    })
  }

  async #within<T>(options: EndableWait, what: string, work: Promise<T>): Promise<T> {
    work.catch(() => undefined)
    const { timeout = waitMs, signal } = checkKeys(options, ['timeout', 'signal'])
    checkAbort(signal)
    checkMilliseconds(timeout, 'timeout')
    const late = Promise.withResolvers<never>()
    const cancel = this.#parts.after(timeout, () =>
      late.reject(
        new LazaretError('WAIT_TIMED_OUT', {
          detail: `Process ${this.id} did not ${what} within ${timeout} ms.`,
        }),
      ),
    )
    const leave = this.#parts.enter()
    try {
      const first = Promise.race([work, late.promise])
      return await (signal === undefined ? first : untilAborted(first, signal))
    } finally {
      cancel()
      leave()
    }
  }
}
