/** What a terminal shows: a new shell that ends with its connection, or a process that continues without it. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { SandboxProcess } from '../../../sandbox/processes/processes.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { writeBounded } from '../routes/process-routes.ts'
import { closeCodes, type TerminalLine } from './terminal-line.ts'

export interface AskedTerminal {
  /** A running process to attach to, instead of a new shell. */
  readonly process: string | undefined
  readonly session: string | undefined
  readonly columns: number
  readonly rows: number
}

/** Interactive: it has a prompt, line editing and jobs. */
const shell = 'exec bash -i'
const prompt = String.raw`\w \$ `

/** Throws NOT_FOUND, and what starting a process throws. The output of a new shell waits until `show()`. */
export async function openTerminal(sandbox: Sandbox, asked: AskedTerminal): Promise<Terminal> {
  if (asked.process !== undefined) {
    const found = sandbox.getProcess(asked.process)
    if (found === undefined) throw new LazaretError('NOT_FOUND')
    return new Terminal(found, false)
  }
  const { columns, rows, session } = asked
  const shown = Promise.withResolvers<TerminalLine | undefined>()
  const started = await sandbox.startProcess(shell, {
    tty: { columns, rows },
    variables: { PS1: prompt },
    timeout: null,
    ...(session !== undefined && { sessionId: session }),
    onOutput: async ({ bytes }) => (await shown.promise)?.send(bytes),
  })
  return new Terminal(started, true, shown.resolve)
}

export class Terminal {
  readonly #process: SandboxProcess
  /** Whether the process ends with its connection. */
  readonly #isOwn: boolean
  readonly #show: (line: TerminalLine | undefined) => void

  constructor(
    process: SandboxProcess,
    isOwn: boolean,
    show: (line: TerminalLine | undefined) => void = () => undefined,
  ) {
    this.#process = process
    this.#isOwn = isOwn
    this.#show = show
  }

  /** Call this when no client is attached any more, or none has connected. */
  abandon(): void {
    this.#show(undefined)
    if (this.#isOwn) this.#process.kill('SIGKILL')
  }

  /** Resolves when the process or the connection has ended; `leaving` ends the connection. */
  async show(line: TerminalLine, leaving: AbortSignal): Promise<void> {
    const over = AbortSignal.any([line.gone, leaving])
    const { id, pid } = this.#process
    const kill = (): void => this.abandon()
    over.addEventListener('abort', kill, { once: true })
    if (over.aborted) kill()
    try {
      line.listen({
        onInput: (bytes) => void this.#type(line, bytes),
        onResize: (size) => this.#resize(line, size),
      })
      await line.tell({ type: 'started', process: id, pid })
      this.#show(line)
      for await (const { bytes } of this.#process.streamLogs({ signal: over }))
        if (!this.#isOwn) await line.send(bytes)
      if (leaving.aborted) return line.close(closeCodes.goingAway, 'The server is shutting down.')
      if (line.gone.aborted) return undefined
      // Resolves only after the last output has been delivered.
      const { exitCode } = await this.#process.waitForExit()
      await line.tell({ type: 'exit', exitCode, status: this.#process.status })
      return line.close(closeCodes.done, '')
    } finally {
      over.removeEventListener('abort', kill)
    }
  }

  async #type(line: TerminalLine, bytes: Buffer): Promise<void> {
    try {
      await writeBounded(this.#process, bytes)
    } catch (error) {
      if (error instanceof LazaretError) line.close(closeCodes.policy, shorten(error.message))
      else line.close(closeCodes.failed, '')
    }
  }

  /** A process that was started without a terminal has no size. */
  #resize(line: TerminalLine, size: { readonly columns: number; readonly rows: number }): void {
    try {
      this.#process.resize(size)
    } catch (error) {
      line.close(closeCodes.policy, error instanceof LazaretError ? shorten(error.message) : '')
    }
  }
}

/** A reason has at most 123 bytes. */
function shorten(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 120)
}
