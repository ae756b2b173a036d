/**
 * A sandbox: a small machine that stays. Commands run in its user space, and those with credentials each in a space of
 * their own; sessions, processes and files last as long as it does.
 */
import { LazaretError } from '../core/errors.ts'
import type { OutputChunk } from '../core/request.ts'
import { checkCommand, checkExecOptions, checkFolder, checkName, checkVariables } from './checks.ts'
import type { CheckedExec } from './checks.ts'
import type { CommandEnd } from './command.ts'
import { streamExec } from './exec-stream.ts'
import type { ExecEvent } from './exec-stream.ts'
import { SandboxFiles } from './files/sandbox-files.ts'
import { startFileTask } from './files/start-file-task.ts'
import { Log } from './log.ts'
import { BackgroundProcess } from './processes.ts'
import type { SandboxProcess } from './processes.ts'
import { runSecurely } from './secure.ts'
import { Session } from './session.ts'
import type { SessionCommand } from './session.ts'
import { bytesOf } from './shell-state.ts'
import { Spaces } from './spaces.ts'
import type { SpacesParts } from './spaces.ts'
import { startTerminal } from './terminal.ts'
import { isListening } from './ports.ts'
import type { ExecOptions, ExecResult, Isolation, SessionOptions, Variables } from './types.ts'

export interface SandboxParts extends SpacesParts {
  readonly id: string
  readonly env: Variables
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly idleTimeoutMs: number | undefined
  readonly allowDegradedSecrets: boolean
  /** Called once, when nothing of it is left. */
  readonly onGone: (sandbox: Sandbox) => void
}

export interface SandboxSession {
  readonly id: string
  /** Where its next command begins. */
  readonly cwd: string
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
}

const defaultSession = 'default'
const sessionsMax = 64
const processesMax = 48
const historyMax = 256

export class Sandbox extends SandboxFiles implements AsyncDisposable {
  readonly id: string
  readonly #parts: SandboxParts
  readonly #spaces: Spaces
  readonly #sessions = new Map<string, Session>()
  readonly #processes = new Map<string, BackgroundProcess>()
  /** Commands that have not ended. */
  #busy = 0
  #variables: Variables
  #stopIdling: () => void = () => undefined
  #ending: Promise<void> | undefined

  private constructor(parts: SandboxParts, spaces: Spaces) {
    super((task, args) => {
      this.#requireThere()
      const process = startFileTask(spaces, task, args)
      void this.#perform(() => process.exit).catch(() => undefined)
      return process
    })
    this.id = parts.id
    this.#parts = parts
    this.#spaces = spaces
    this.#variables = {
      PATH: '/opt/lazaret/bin:/usr/local/bin:/usr/bin:/bin',
      HOME: spaces.workspace,
      USER: 'guest',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TERM: 'dumb',
      ...parts.env,
    }
    this.#makeSession({ id: defaultSession })
    spaces.hold(false)
    // The kernel may end it, and so may whoever administers the machine.
    void spaces.user.cell.gone.then(() => this.destroy())
    this.#idle()
  }

  /** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async create(parts: SandboxParts): Promise<Sandbox> {
    const spaces = await Spaces.open(parts)
    const { workspace } = spaces
    for (const [path, bytes] of Object.entries(parts.files))
      spaces.user.cell.put(`${workspace}/${path}`, bytes)
    return new Sandbox(parts, spaces)
  }

  /** Whether it can be used. */
  get isAlive(): boolean {
    return this.#ending === undefined
  }

  /**
   * Runs a command line by bash, and resolves when it has ended, whatever its exit code. What it started in the
   * background goes on. With `env` it runs in a secure space, see `ExecOptions.env`.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, SANDBOX_GONE, SESSION_GONE, SESSION_TERMINATED,
   *   SECRETS_UNPROTECTED, CELL_FAILED.
   */
  async exec(command: string, options?: ExecOptions): Promise<ExecResult> {
    const line = checkCommand(command)
    const checked = checkExecOptions(options)
    return this.#perform(() => this.#exec(line, checked))
  }

  /** The same, piece by piece. It runs beside the commands of its session, with a copy of what they have left. */
  execStream(command: string, options?: ExecOptions): AsyncIterable<ExecEvent> {
    const line = checkCommand(command)
    const checked = checkExecOptions(options)
    return streamExec(line, checked, (wishes) =>
      this.#perform(() => this.#exec(line, { ...checked, ...wishes }, true)),
    )
  }

  async createSession(options: SessionOptions = {}): Promise<SandboxSession> {
    this.#requireThere()
    const id = checkName(options.id, 'id') ?? this.#parts.clock.id()
    if (this.#sessions.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: `There is a session ${id}.` })
    if (this.#sessions.size >= sessionsMax)
      throw new LazaretError('QUEUE_FULL', { detail: `The sandbox has ${sessionsMax} sessions.` })
    return this.#handle(this.#makeSession({ ...options, id }))
  }

  /** Undefined when there is none. */
  getSession(id: string): SandboxSession | undefined {
    const session = this.#sessions.get(id)
    return session && this.#handle(session)
  }

  /** Its commands that run go on. Answers whether there was one. The default session stays. */
  async deleteSession(id: string): Promise<boolean> {
    const session = this.#sessions.get(id)
    if (session === undefined || id === defaultSession) return false
    this.#sessions.delete(id)
    session.end()
    return true
  }

  /** Variables of every later command of the user space, in every session. Not for secrets: they reach all of it. */
  async setEnvVars(variables: Variables): Promise<void> {
    this.#requireThere()
    const checked = checkVariables(variables, { keepsUnset: true })
    this.#variables = { ...this.#variables, ...checked }
    for (const session of this.#sessions.values()) session.setVariables(checked)
  }

  /** Starts a command that goes on beside others, until it ends, is killed, or the sandbox ends. */
  async startProcess(
    command: string,
    options?: ExecOptions & { readonly id?: string },
  ): Promise<SandboxProcess> {
    const { id: name, ...rest } = options ?? {}
    const line = checkCommand(command)
    const { env, sessionId, tty, cwd, stdin, timeout, signal, onOutput } = checkExecOptions(rest)
    const id = checkName(name, 'id') ?? this.#parts.clock.id()
    this.#requireThere()
    if (Object.keys(env).length > 0)
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'env: credentials are for exec(); a process that goes on would keep them.',
        hint: 'Use setEnvVars() for what is no secret.',
      })
    const running = [...this.#processes.values()].filter(({ status }) => status === 'running')
    if (this.#processes.get(id)?.status === 'running')
      throw new LazaretError('INVALID_REQUEST', { detail: `There is a process ${id}.` })
    if (running.length >= processesMax)
      throw new LazaretError('QUEUE_FULL', { detail: `${processesMax} processes run in the sandbox.` })
    const log = new Log()
    const tell = (chunk: OutputChunk) => {
      log.add(chunk)
      return onOutput?.(chunk)
    }
    const wishes: SessionCommand = {
      command: line,
      folder: cwd,
      stdin,
      timeoutMs: timeout,
      signal,
      onOutput: tell,
    }
    const session = this.#session(sessionId)
    const process =
      tty === undefined
        ? session.startBeside(wishes, true)
        : startTerminal(this.#spaces, session, { ...wishes, size: tty, goesOn: true })
    const handle = new BackgroundProcess({
      id,
      command: line,
      process,
      log,
      isListening: (port) => isListening(this.#spaces, port),
      enter: () => this.#enter(),
      after: (ms, callback) => this.#parts.clock.after(ms, callback),
    })
    this.#keep(handle)
    await this.#perform(() => process.started)
    return handle
  }

  listProcesses(): SandboxProcess[] {
    return [...this.#processes.values()]
  }

  getProcess(id: string): SandboxProcess | undefined {
    return this.#processes.get(id)
  }

  /** Answers whether there was one that ran. It is gone, with everything that it has started, when this resolves. */
  async killProcess(id: string): Promise<boolean> {
    const process = this.#processes.get(id)
    if (process?.status !== 'running') return false
    process.kill('SIGKILL')
    await process.ended
    return true
  }

  /** Answers how many. */
  async killAllProcesses(): Promise<number> {
    const killed = await Promise.all([...this.#processes.keys()].map((id) => this.killProcess(id)))
    return killed.filter(Boolean).length
  }

  /** Ends everything in it. Resolves when nothing of it is left; a second call waits for the first. */
  destroy(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy()
  }

  async #end(): Promise<void> {
    this.#stopIdling()
    this.#spaces.hold(true)
    for (const session of this.#sessions.values()) session.end()
    await this.#spaces[Symbol.asyncDispose]()
    this.#parts.onGone(this)
  }

  async #exec(command: string, options: CheckedExec, isBeside = false): Promise<ExecResult> {
    const { env, cwd, timeout, stdin, signal, onOutput, home, tty } = options
    const session = this.#session(options.sessionId)
    const wishes: SessionCommand = { command, stdin, folder: cwd, timeoutMs: timeout, signal, onOutput }
    const isSecure = Object.keys(env).length > 0
    if (isSecure && !this.#keepsSecrets) throw new LazaretError('SECRETS_UNPROTECTED')
    const isolation: Isolation = {
      space: isSecure ? 'secure' : 'user',
      level: this.#parts.wall.machine.level,
      network: this.#parts.shape.network,
      ...(options.namesEnv && !isSecure
        ? { note: 'env names no value, so the command ran without credentials, in the user space.' }
        : {}),
    }
    const run = (): Promise<CommandEnd> => {
      if (isSecure) {
        const variables = env as Readonly<Record<string, string>>
        const folder = cwd === undefined ? session.folderBytes : bytesOf(cwd)
        return runSecurely(this.#spaces, { ...wishes, variables, folder, home })
      }
      if (tty !== undefined) return startTerminal(this.#spaces, session, { ...wishes, size: tty }).ended
      return isBeside ? session.startBeside(wishes).ended : session.exec(wishes)
    }
    return this.#toResult(command, await run(), isolation)
  }

  #toResult(command: string, end: CommandEnd, isolation: Isolation): ExecResult {
    const { outcome, exitCode, stdout, stderr, truncated, durationMs } = end
    return {
      success: outcome.kind === 'completed' && exitCode === 0,
      exitCode,
      stdout,
      stderr,
      command,
      duration: durationMs,
      timestamp: this.#parts.clock.timestamp(),
      outcome,
      truncated,
      isolation,
    }
  }

  get #keepsSecrets(): boolean {
    return this.#spaces.keepsSecrets || this.#parts.allowDegradedSecrets
  }

  #session(id = defaultSession): Session {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new LazaretError('SESSION_GONE', { detail: `Session ${id}.` })
    return session
  }

  #makeSession({ id = this.#parts.clock.id(), env, cwd }: SessionOptions): Session {
    const folder = checkFolder(cwd) ?? this.#spaces.workspace
    const session = new Session(this.#spaces, {
      id,
      folder,
      variables: () => ({ ...this.#variables, ...checkVariables(env) }),
    })
    this.#sessions.set(id, session)
    return session
  }

  #handle(session: Session): SandboxSession {
    return {
      id: session.id,
      get cwd() {
        return session.folder
      },
      exec: (command, options) => this.exec(command, { ...options, sessionId: session.id }),
    }
  }

  /** The oldest that have ended are forgotten. */
  #keep(process: BackgroundProcess): void {
    this.#processes.set(process.id, process)
    for (const [id, { status }] of this.#processes)
      if (this.#processes.size > historyMax && status !== 'running') this.#processes.delete(id)
  }

  async #perform<T>(work: () => Promise<T>): Promise<T> {
    this.#requireThere()
    const leave = this.#enter()
    try {
      return await work()
    } catch (error) {
      throw this.isAlive ? error : new LazaretError('SANDBOX_GONE', { cause: error })
    } finally {
      leave()
    }
  }

  /** Somebody waits for something of it: until that is over the host process does not end, and it is not idle. */
  #enter(): () => void {
    this.#stopIdling()
    if (this.#busy++ === 0) this.#spaces.hold(true)
    return () => {
      if (--this.#busy > 0 || !this.isAlive) return
      this.#spaces.hold(false)
      this.#idle()
    }
  }

  #idle(): void {
    const { idleTimeoutMs, clock } = this.#parts
    if (idleTimeoutMs !== undefined && this.isAlive)
      this.#stopIdling = clock.after(idleTimeoutMs, () => void this.destroy())
  }

  #requireThere(): void {
    if (!this.isAlive) throw new LazaretError('SANDBOX_GONE', { detail: `Sandbox ${this.id}.` })
  }
}
