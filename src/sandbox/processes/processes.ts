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
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { createLineSearch } from './line-search.ts'
import type { Log, LogText } from './log.ts'
import type { LogRoom } from './log-room.ts'
import type { Steps } from '../../core/steps.ts'

/** Without blocking the event loop: text that is not UTF-8 takes the engine long to decode. */
export async function readLogs(process: SandboxProcess): Promise<LogText> {
  return process instanceof BackgroundProcess ? loopTurns.perform(process.logsInSteps()) : process.getLogs()
}

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
  /**
   * The end of its output: at most 1 MiB of each stream. All ended processes of a sandbox together keep at most 16 MiB:
   * those that ended last, and less if the client makes Lazaret hold much else.
   */
  getLogs(): LogText
  /**
   * Its earlier and later output, until it ends. The chunks of a reader that is slow, or one of many, are longer.
   *
   * @throws {LazaretError} QUEUE_FULL if the logs of the sandbox have 64 readers already.
   */
  streamLogs(options?: { readonly signal?: AbortSignal }): AsyncIterable<OutputChunk>
  /** Resolves with its exit code. */
  waitForExit(options?: WaitOptions): Promise<{ readonly exitCode: number }>
  /** Resolves when something listens on this TCP port of the sandbox's loopback. */
  waitForPort(port: number, options?: WaitOptions): Promise<void>
  /**
   * Resolves with the first matching line of its earlier or later output; of an unfinished line, with the last
   * 64 KiB. A regular expression is matched in a thread, in the last 64 KiB of each line.
   *
   * @throws {LazaretError} PROCESS_ENDED, WAIT_TIMED_OUT, PATTERN_TOO_SLOW; QUEUE_FULL if 64 calls wait in the sandbox.
   */
  waitForLog(pattern: string | RegExp, options?: WaitOptions): Promise<{ readonly line: string }>
  /**
   * Types into its terminal, or writes to its standard input, which stays open unless `stdin` was given.
   * Resolves when there is room for more, and also if the process has ended and nothing was written: check `status`.
   */
  write(text: string | Uint8Array): Promise<void>
  /**
   * Ends its standard input after what was written, so that `cat` and `sort` can end. In a terminal it types Ctrl-D, which a
   * program that reads lines takes for the end. Later calls of `write` throw INVALID_REQUEST, except in a terminal.
   */
  closeStdin(): Promise<void>
  resize(size: TerminalSize): void
}

export interface ProcessParts {
  readonly id: string
  readonly command: string
  readonly process: Command
  readonly log: Log
  /** Whether `write` reaches it. */
  readonly takesInput: boolean
  readonly hasTerminal: boolean
  /** Resolves with whether anything listens there. */
  readonly isListening: (port: number) => Promise<boolean>
  /** Marks that a caller waits for something, until the returned function is called. */
  readonly enter: () => () => void
  /** Count a follower or a search of its log, until the returned function is called. Throw QUEUE_FULL. */
  readonly follow: () => () => void
  readonly search: () => () => void
  /** Searches of one client take turns. */
  readonly client: string
  readonly after: (ms: number, callback: () => void) => () => void
}

/** Ctrl-D: termios(3), VEOF. */
const endOfInput = Uint8Array.of(4)
const waitMs = 30_000
const portPauseMs = 25
/** Batches output, so that the log of a process that prints single bytes is not searched for each byte. */
const logPauseMs = 5

export class BackgroundProcess implements SandboxProcess {
  readonly id: string
  readonly command: string
  /** Resolves when it has ended, and its output has been read. */
  readonly ended: Promise<void>
  readonly #parts: Omit<ProcessParts, 'process'>
  /** Undefined when it has ended: of hundreds of ended processes only little is kept. */
  #process: Command | undefined
  #pid = 0
  #isStdinClosed = false
  #end: { readonly status: Exclude<ProcessStatus, 'running'>; readonly exitCode: number } | undefined

  constructor({ process, ...parts }: ProcessParts) {
    this.#parts = parts
    this.#process = process
    this.id = parts.id
    this.command = parts.command
    this.ended = process.ended.then(
      (end) => this.#finish(end),
      () => this.#finish(undefined),
    )
  }

  get pid(): number {
    return this.#process?.pid ?? this.#pid
  }

  get status(): ProcessStatus {
    return this.#end?.status ?? 'running'
  }

  get exitCode(): number | undefined {
    return this.#end?.exitCode
  }

  /** Its JSON form, for `JSON.stringify()`. */
  toJSON(): Pick<SandboxProcess, 'id' | 'pid' | 'command' | 'status' | 'exitCode'> {
    const { id, pid, command, status, exitCode } = this
    return { id, pid, command, status, exitCode }
  }

  kill(signal: SignalName = 'SIGTERM'): void {
    if (checkSignal(signal) === 'SIGKILL') this.#process?.kill()
    else this.#process?.signal(signal)
  }

  getLogs(): LogText {
    return this.#parts.log.text()
  }

  /** For `readLogs`. */
  logsInSteps(): Steps<LogText> {
    return this.#parts.log.textInSteps()
  }

  /** Nobody can find it any more. */
  dropLog(room: LogRoom): void {
    room.remove(this.#parts.log)
  }

  streamLogs(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<OutputChunk> {
    const { signal } = checkKeys(options, ['signal'])
    checkAbort(signal)
    // Throws if there are too many. It counts as one when it is read.
    this.#parts.follow()()
    return this.#stream(signal)
  }

  async *#stream(signal: AbortSignal | undefined): AsyncGenerator<OutputChunk> {
    const unfollow = this.#parts.follow()
    const leave = this.#parts.enter()
    try {
      yield* this.#parts.log.follow(signal)
    } finally {
      leave()
      unfollow()
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
        if (this.#end !== undefined) throw this.#tooEarly(`anything listened on port ${port}`)
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
    const checked = checkPattern(pattern)
    using entry = new DisposableStack()
    entry.defer(this.#parts.search())
    await using search = createLineSearch(checked, this.#parts.client)
    const abort = new AbortController()
    const pause = () => new Promise<void>((resolve) => this.#parts.after(logPauseMs, resolve))
    const look = async () => {
      for await (const read of this.#parts.log.newLines(pause, abort.signal)) {
        const line = await search.find(read)
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
    if (this.#isStdinClosed) throw refuse('write: its standard input was closed')
    const bytes = checkBytes(text)
    await this.#process?.write(bytes)
  }

  async closeStdin(): Promise<void> {
    if (this.#parts.hasTerminal) return await this.#process?.write(endOfInput)
    this.#isStdinClosed = true
    this.#process?.endStdin()
  }

  resize(size: TerminalSize): void {
    const checked = checkSize(size)
    this.#process?.resize(checked)
  }

  #finish(end: CommandEnd | undefined): void {
    const exitCode = end?.exitCode ?? 137
    const endedItself = exitCode === 0 ? 'completed' : 'failed'
    this.#end = { exitCode, status: end?.outcome.kind === 'completed' ? endedItself : 'killed' }
    this.#pid = this.pid
    this.#process = undefined
    this.#parts.log.end()
  }

  /** Once the process has ended, perhaps with its sandbox, no process is left to inspect. */
  async #isListening(port: number): Promise<boolean> {
    try {
      return await this.#parts.isListening(port)
    } catch (error) {
      if (this.#end !== undefined) return false
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
