/**
 * A sandbox: a small machine that stays. Commands run in its user space, and those with credentials each in a space of
 * their own; sessions, processes and files last as long as it does.
 */
import { endInOrder, endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors.ts'
import { Activity } from './activity.ts'
import { checkCommand, checkExecOptions, checkKeys, execKeys } from './checks.ts'
import { execute } from './exec.ts'
import type { ExecRequest } from './exec.ts'
import { streamExec } from './exec-stream.ts'
import type { ExecEvent } from './exec-stream.ts'
import { SandboxFiles } from './files/sandbox-files.ts'
import { startFileTask } from './files/start-file-task.ts'
import { Processes } from './process-table.ts'
import type { SandboxProcess } from './processes.ts'
import type { Session } from './session.ts'
import { Sessions } from './session-table.ts'
import { Spaces } from './spaces.ts'
import type { SpacesParts } from './spaces.ts'
import type {
  ExecOptions,
  ExecResult,
  ProcessOptions,
  SandboxSession,
  SessionOptions,
  Variables,
} from './types.ts'

export interface SandboxParts extends SpacesParts {
  readonly id: string
  readonly env: Variables
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly idleTimeoutMs: number | undefined
  readonly allowDegradedSecrets: boolean
  /** Called once, when nothing of it is left that could be removed. */
  readonly onGone: (sandbox: Sandbox) => void
}

export class Sandbox extends SandboxFiles implements AsyncDisposable {
  readonly id: string
  readonly #parts: SandboxParts
  readonly #spaces: Spaces
  readonly #sessions: Sessions
  readonly #processes: Processes
  readonly #activity: Activity
  readonly #end = endOnce(() => this.#endAll())
  /** What callers wait for. */
  readonly #unfinished = new Set<PromiseWithResolvers<never>>()
  #isAlive = true
  #isGone = false
  #isStuck = false

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
    this.#sessions = new Sessions(spaces, parts.env)
    const activity = new Activity({
      clock: parts.clock,
      hold: (isHeld) => spaces.hold(isHeld),
      idleTimeoutMs: parts.idleTimeoutMs,
      onIdle: () => this.#endUnasked(),
    })
    this.#activity = activity
    this.#processes = new Processes({ spaces, sessions: this.#sessions, activity })
    // The kernel may end it, and so may whoever administers the machine.
    void spaces.user.cell.gone.then(() => this.#endUnasked())
  }

  /** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async create(parts: SandboxParts): Promise<Sandbox> {
    const sandbox = new Sandbox(parts, await Spaces.open(parts))
    try {
      await sandbox.#placeFiles()
    } catch (error) {
      await sandbox.destroy().catch(() => undefined)
      throw error
    }
    return sandbox
  }

  /** Whether it can be used. */
  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Whether nothing of it is left. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether its end has failed: something of it may be left until another `destroy()` succeeds. */
  get isStuck(): boolean {
    return this.#isStuck
  }

  /**
   * Runs a command line by bash, and resolves when it has ended, whatever its exit code. What it started in the
   * background goes on. With `env` it runs in a secure space, see `ExecOptions.env`.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, SANDBOX_GONE, SESSION_GONE, SESSION_TERMINATED,
   *   SECRETS_UNPROTECTED, CELL_FAILED.
   */
  async exec(command: string, options?: ExecOptions): Promise<ExecResult> {
    const checked = { command: checkCommand(command), options: checkExecOptions(options) }
    return this.#execute({ ...checked, isBeside: false })
  }

  /** The same, piece by piece. It runs beside the commands of its session, with a copy of what they have left. */
  execStream(command: string, options?: ExecOptions): AsyncIterable<ExecEvent> {
    const line = checkCommand(command)
    const checked = checkExecOptions(options)
    return streamExec(line, checked, (wishes) =>
      this.#execute({ command: line, options: { ...checked, ...wishes }, isBeside: true }),
    )
  }

  /** Throws INVALID_REQUEST when there is one of that name, QUEUE_FULL when there are too many. */
  async createSession(options?: SessionOptions): Promise<SandboxSession> {
    this.#requireThere()
    return this.#handle(this.#sessions.create(options))
  }

  /** Undefined when there is none. */
  getSession(id: string): SandboxSession | undefined {
    const session = this.#sessions.find(id)
    return session && this.#handle(session)
  }

  /** Its commands that run go on. Answers whether there was one. The default session stays. */
  async deleteSession(id: string): Promise<boolean> {
    return this.#sessions.delete(id)
  }

  /** Variables of every later command of the user space, in every session. Not for secrets: they reach all of it. */
  async setEnvVars(variables: Variables): Promise<void> {
    this.#requireThere()
    this.#sessions.setVariables(variables)
  }

  /** Starts a command that goes on beside others, until it ends, is killed, or the sandbox ends. */
  async startProcess(command: string, options?: ProcessOptions): Promise<SandboxProcess> {
    return this.#perform(() => this.#processes.start(command, options))
  }

  listProcesses(): SandboxProcess[] {
    return this.#processes.list()
  }

  getProcess(id: string): SandboxProcess | undefined {
    return this.#processes.get(id)
  }

  /** Answers whether there was one that ran. It is gone, with everything that it has started, when this resolves. */
  async killProcess(id: string): Promise<boolean> {
    return this.#perform(() => this.#processes.kill(id))
  }

  /** Answers how many. */
  async killAllProcesses(): Promise<number> {
    return this.#perform(() => this.#processes.killAll())
  }

  /**
   * Ends everything in it. Resolves when nothing of it is left; a second call waits for the first.
   *
   * @throws {LazaretError} END_FAILED when something of it could not be removed; the next call tries again.
   */
  destroy(): Promise<void> {
    this.#isAlive = false
    return this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy()
  }

  /** Nobody waits for this end, so a failure is told to whoever calls `destroy()`, or disposes of all. */
  #endUnasked(): void {
    this.destroy().catch(() => undefined)
  }

  async #endAll(): Promise<void> {
    this.#isStuck = false
    try {
      await endInOrder(`Sandbox ${this.id} could not be ended`, [
        () => this.#activity.end(),
        () => this.#sessions.end(),
        () => this.#spaces[Symbol.asyncDispose](),
      ])
    } catch (error) {
      this.#isStuck = true
      throw error
    }
    this.#isGone = true
    // A command may have ended and wait for a caller who never takes its output.
    for (const { reject } of this.#unfinished) reject(new LazaretError('SANDBOX_GONE'))
    this.#parts.onGone(this)
  }

  /** In a folder that was there before, what has the name of a file is written over, as commands would. */
  async #placeFiles(): Promise<void> {
    const { files, shape } = this.#parts
    const { workspace, user } = this.#spaces
    for (const [path, bytes] of Object.entries(files)) {
      if (shape.workspace === undefined) user.cell.put(`${workspace}/${path}`, bytes)
      else await this.writeFile(`${workspace}/${path}`, bytes, { createParents: true })
    }
  }

  #execute(request: ExecRequest): Promise<ExecResult> {
    const { allowDegradedSecrets } = this.#parts
    const ground = { spaces: this.#spaces, sessions: this.#sessions, allowDegradedSecrets }
    return this.#perform(() => execute(ground, request))
  }

  #handle(session: Session): SandboxSession {
    return {
      id: session.id,
      get cwd() {
        return session.folder
      },
      exec: async (command, options) =>
        this.exec(command, { ...checkKeys(options, execKeys), sessionId: session.id }),
    }
  }

  async #perform<T>(work: () => Promise<T>): Promise<T> {
    this.#requireThere()
    const unfinished = Promise.withResolvers<never>()
    this.#unfinished.add(unfinished)
    try {
      return await Promise.race([this.#activity.during(work), unfinished.promise])
    } catch (error) {
      throw this.isAlive ? error : new LazaretError('SANDBOX_GONE', { cause: error })
    } finally {
      this.#unfinished.delete(unfinished)
    }
  }

  #requireThere(): void {
    if (!this.isAlive) throw new LazaretError('SANDBOX_GONE', { detail: `Sandbox ${this.id}.` })
  }
}
