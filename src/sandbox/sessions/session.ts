/**
 * A session runs commands in sequence. Each command finds the working folder, exported variables, functions and options
 * that the previous one left. Each has its own shell, and the next shell is started ahead.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import type { StartKind } from '../../core/receipt.ts'
import { Command } from '../commands/command.ts'
import type { CommandWishes } from '../commands/command.ts'
import { cancelled } from '../commands/command-end.ts'
import type { CommandEnd } from '../commands/command-end.ts'
import { bytesOf, freshState, parseState, restoreOwnVariables, textOf } from './shell-state.ts'
import type { ShellState } from './shell-state.ts'
import {
  bootstrap,
  commandScript,
  exportAll,
  folderIsGone,
  frameScript,
  restoreScript,
  startFolder,
  terminalScript,
} from './shell-text.ts'
import type { Variables } from './shell-text.ts'
import type { Spaces } from '../spaces.ts'

export interface SessionStart {
  readonly id: string
  readonly folder: string
  /** The names of the variables that other sessions do not have. */
  readonly ownVariables: readonly string[]
  /** The state with which it begins, also after a restart. */
  readonly variables: () => Variables
}

export interface SessionCommand extends CommandWishes {
  readonly command: string
  readonly folder?: string | undefined
  readonly stdin?: string | Uint8Array | undefined
  /** Exported only for this command. */
  readonly variables?: Readonly<Record<string, string>>
  /** Whether more standard input may follow. */
  readonly isInputOpen?: boolean
}

/** A prepared shell takes a megabyte. */
const parkedMs = 30_000

export class Session {
  readonly id: string
  readonly #spaces: Spaces
  readonly #start: SessionStart
  #state: ShellState
  #pending: Variables = {}
  #parked: Command | undefined
  #unpark: () => void = () => undefined
  #last: Promise<unknown> = Promise.resolve()
  #isGone = false

  constructor(spaces: Spaces, start: SessionStart) {
    this.id = start.id
    this.#spaces = spaces
    this.#start = start
    this.#state = this.#freshState()
  }

  get ownVariables(): readonly string[] {
    return this.#start.ownVariables
  }

  /** The working folder of its next command. */
  get folder(): string {
    return textOf(this.#state.folder)
  }

  /** The same as bytes, because its name need not be UTF-8. */
  get folderBytes(): string {
    return this.#state.folder
  }

  /** Sets variables for its next commands. */
  setVariables(variables: Variables): void {
    this.#pending = { ...this.#pending, ...variables }
  }

  /** Runs a command after the earlier ones. Throws SESSION_TERMINATED if it killed its own shell. */
  exec(command: SessionCommand): Promise<CommandEnd> {
    const { signal } = command
    if (signal?.aborted === true) return Promise.resolve(cancelled)
    const waiting = Promise.withResolvers<CommandEnd>()
    const cancel = () => waiting.resolve(cancelled)
    signal?.addEventListener('abort', cancel, { once: true })
    const turn = this.#last.then(() => {
      signal?.removeEventListener('abort', cancel)
      return this.#exec(command)
    })
    this.#last = turn.catch(() => undefined)
    // Later commands do not wait for an aborted one.
    return Promise.race([turn, waiting.promise])
  }

  /** Starts a command with a copy of the session's state. Its changes do not affect the session. */
  startConcurrent(command: SessionCommand, { isBackground = false } = {}): Command {
    this.#requireThere()
    const shell = this.#startShell(isBackground)
    const isInputOpen = isBackground && command.stdin === undefined
    this.#give(shell, { ...command, isInputOpen }, this.#pending)
    return shell
  }

  /** A command with a copy of the session's state, as one script for a terminal. */
  terminalScript({ command, folder, variables }: SessionCommand): string {
    this.#requireThere()
    return terminalScript({
      command,
      folder: this.#folderOf(folder),
      state: this.#state,
      variables: { TERM: 'xterm-256color', ...this.#pending, ...variables },
    })
  }

  end(): void {
    this.#isGone = true
    this.#unpark()
    this.#parked?.kill()
  }

  async #exec(command: SessionCommand): Promise<CommandEnd> {
    this.#requireThere()
    if (command.signal?.aborted === true) return cancelled
    const { shell, start } = this.#takeShell()
    const variables = this.#pending
    this.#pending = {}
    this.#give(shell, { ...command, start }, variables)
    const end = await shell.ended.catch((error: unknown) => {
      this.#takeBack(variables)
      throw error
    })
    const said = restoreOwnVariables(end.state, Object.keys(command.variables ?? {}))
    const state = parseState(said, this.#state)
    if (state === undefined) this.#takeBack(variables)
    else this.#state = command.folder === undefined ? state : { ...state, ...this.#folders() }
    if (end.state === folderIsGone && command.folder === undefined) this.#goBack()
    if (end.wasKilled) {
      this.#state = this.#freshState()
      throw new LazaretError('SESSION_TERMINATED', {
        detail: `Session ${this.id} ended with exit code ${end.exitCode}.`,
      })
    }
    this.#park()
    return end
  }

  /** Keeps variables for the next command, because no state contains them yet. */
  #takeBack(variables: Variables): void {
    this.#pending = { ...variables, ...this.#pending }
  }

  #give(shell: Command, given: SessionCommand, variables: Variables): void {
    const { command, folder, stdin, variables: commandVariables = {}, isInputOpen = false, ...wishes } = given
    shell.begin(wishes)
    const script = commandScript({
      command,
      folder: this.#folderOf(folder),
      state: this.#state,
      variables,
      commandVariables,
      hasStdin: stdin !== undefined || isInputOpen,
    })
    void shell.write(frameScript(script))
    if (stdin !== undefined) void shell.write(Buffer.from(stdin as string))
    if (!isInputOpen) shell.endStdin()
  }

  #takeShell(): { readonly shell: Command; readonly start: StartKind } {
    const parked = this.#parked
    this.#parked = undefined
    this.#unpark()
    if (parked === undefined || parked.isOver) return { shell: this.#startShell(), start: 'cold' }
    // Any process of the user space may have stopped the prepared shell.
    parked.signal('SIGCONT')
    return { shell: parked, start: 'parked' }
  }

  /** The output of a background process is not limited, because its log keeps only the end. */
  #startShell(isBackground = false): Command {
    const { user, parts } = this.#spaces
    const shell = new Command({
      space: user,
      clock: parts.clock,
      limits: parts.limits,
      isEndless: isBackground,
      spec: {
        ...this.#spaces.commonSpec(user),
        file: parts.shell,
        argv: ['bash', '-c', bootstrap, 'bash'],
        env: {},
        folder: startFolder,
        stdin: 'later',
        hasState: true,
      },
    })
    void shell.write(frameScript(restoreScript(this.#state)))
    return shell
  }

  #freshState(): ShellState {
    const { TMOUT, ...variables } = this.#start.variables()
    return freshState(
      this.#start.folder,
      exportAll(variables),
      TMOUT === undefined ? '' : exportAll({ TMOUT }),
    )
  }

  #folderOf(asked: string | undefined): string {
    return asked === undefined ? this.#state.folder : bytesOf(asked)
  }

  #folders(): Pick<ShellState, 'folder' | 'oldFolder'> {
    const { folder, oldFolder } = this.#state
    return { folder, oldFolder }
  }

  /**
   * The session's folder was removed, so it returns to its first folder; if that was the folder, to its first state.
   */
  #goBack(): void {
    const fresh = this.#freshState()
    this.#state = this.#state.folder === fresh.folder ? fresh : { ...this.#state, folder: fresh.folder }
  }

  #park(): void {
    if (this.#isGone) return
    this.#parked = this.#startShell()
    const shell = this.#parked
    const stop = this.#spaces.parts.clock.every(parkedMs, () => {
      stop()
      shell.kill()
    })
    this.#unpark = stop
  }

  #requireThere(): void {
    if (this.#isGone) throw new LazaretError('SESSION_GONE', { detail: `Session ${this.id} was deleted.` })
  }
}
