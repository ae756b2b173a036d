/**
 * A sandbox. Commands run in its user space, and each command with credentials in its own space. Sessions, processes and
 * files exist as long as the sandbox.
 */
import { endInOrder, endOnce } from '../core/endings.ts'
import type { Clamp } from '../core/limits.ts'
import { Activity } from './activity.ts'
import { checkCommand, checkExecOptions } from './checks.ts'
import { pickSandboxLimits } from './commands/command-receipt.ts'
import type { SandboxLimits } from './commands/command-receipt.ts'
import { execute } from './commands/exec.ts'
import type { ExecRequest } from './commands/exec.ts'
import { streamExec } from './commands/exec-stream.ts'
import type { ExecEvent } from './commands/exec-stream.ts'
import { checkCompleted } from './contexts/context-checks.ts'
import { Contexts } from './contexts/contexts.ts'
import { contextHandleOf } from './contexts/context-handle.ts'
import type { LiveContext } from './contexts/code-context.ts'
import type { CodeContext, CodeContextOptions, CodeResult, RunCodeOptions } from './contexts/context-types.ts'
import { FileMethods } from './files/file-methods.ts'
import type { SandboxFiles } from './files/sandbox-files.ts'
import { Governed } from './governed.ts'
import { Jupyter } from './jupyter/jupyter.ts'
import type { JupyterOptions, JupyterServer } from './jupyter/jupyter-types.ts'
import { openFiles, placeFiles } from './commands/open-files.ts'
import { ExposedPorts } from './ports/exposed-ports.ts'
import type { ExposedPort, ExposePortOptions } from './ports/exposed-ports.ts'
import { Processes } from './processes/process-table.ts'
import type { SandboxProcess } from './processes/processes.ts'
import { handleOf } from './sessions/session-handle.ts'
import { Sessions } from './sessions/session-table.ts'
import { Spaces } from './spaces.ts'
import type { SandboxParts } from './sandbox-parts.ts'
import type {
  ExecOptions,
  ExecResult,
  ProcessOptions,
  SandboxSession,
  SessionOptions,
  Variables,
} from './types.ts'
import { Unfinished } from './commands/unfinished.ts'

export class Sandbox extends FileMethods implements AsyncDisposable {
  readonly id: string
  /** The limits that hold in it, for all of its commands together or for each, as `SandboxOptions.limits` says. */
  readonly limits: SandboxLimits
  /** Limits that were lowered when it was created, and why; including defaults above the operator's ceilings. */
  readonly clamped: readonly Clamp[]
  readonly #parts: SandboxParts
  readonly #spaces: Spaces
  readonly #sessions: Sessions
  readonly #processes: Processes
  readonly #ports: ExposedPorts
  readonly #activity: Activity
  readonly #governed: Governed
  readonly #contexts: Contexts
  readonly #jupyter: Jupyter
  /** @internal */
  protected readonly files: SandboxFiles
  readonly #end = endOnce(() => this.#endAll())
  readonly #unfinished: Unfinished
  #isGone = false
  #isStuck = false

  private constructor(parts: SandboxParts, spaces: Spaces) {
    super()
    const { id, client, account, governor, notary, clock } = parts
    const governed = new Governed({ governor, notary, id, client, nextId: () => clock.id() })
    this.id = id
    this.limits = pickSandboxLimits(parts.limits)
    this.clamped = parts.clamps.filter(({ limit }) => limit in this.limits)
    this.#governed = governed
    this.#parts = parts
    this.#spaces = spaces
    this.#sessions = new Sessions(spaces, parts.env, (names) => governor.requireVariables(names))
    const activity = new Activity({
      clock,
      hold: (isHeld) => spaces.hold(isHeld),
      idleTimeoutMs: parts.idleTimeoutMs,
      onIdle: () => this.#endInBackground(),
    })
    this.#activity = activity
    const unfinished = new Unfinished(id, activity)
    this.#unfinished = unfinished
    const variables = () => this.#sessions.variables
    const reserveOutput = () => parts.account.reserve({ client, kind: 'output' })
    this.#contexts = new Contexts({ spaces, governed, variables, reserveOutput, ...parts.contexts })
    this.#jupyter = new Jupyter({ spaces, governed, variables, activity, ...parts.contexts })
    this.files = openFiles({ spaces, governed, unfinished, account, client })
    this.#processes = new Processes({ spaces, sessions: this.#sessions, activity, governed, account, client })
    this.#ports = new ExposedPorts({ spaces, governed, unfinished })
    // The kernel or the machine's administrator may end it at any time.
    void spaces.user.cell.gone.then(() => this.#endInBackground())
  }

  /** @internal Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async create(parts: SandboxParts): Promise<Sandbox> {
    const sandbox = new Sandbox(parts, await Spaces.open(parts))
    try {
      await sandbox.#activity.during(() => placeFiles(parts, sandbox.#spaces, sandbox.files))
    } catch (error) {
      await sandbox.destroy().catch(() => undefined)
      throw error
    }
    return sandbox
  }

  /** Whether it can be used. */
  get isAlive(): boolean {
    return this.#unfinished.isAlive
  }

  /** Whether it has ended completely. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether its end has failed: parts of it may remain until another `destroy()` succeeds. */
  get isStuck(): boolean {
    return this.#isStuck
  }

  /**
   * Runs a command line with bash, and resolves when it has ended, whatever its exit code. What it started in the
   * background continues. With `env` it runs in a secure space, see `ExecOptions.env`.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, SANDBOX_GONE, SESSION_GONE, SESSION_TERMINATED, CELL_FAILED,
   *   SECRETS_UNPROTECTED, ACCESS_DENIED, NOT_ADMITTED, RATE_LIMITED, CIRCUIT_OPEN, AUDIT_FAILED.
   */
  async exec(command: string, options?: ExecOptions): Promise<ExecResult> {
    const checked = { command: checkCommand(command), options: checkExecOptions(options) }
    return this.#execute({ ...checked, isConcurrent: false })
  }

  /** Streams a command. It runs concurrently with the commands of its session, with a copy of their state. */
  execStream(command: string, options?: ExecOptions): AsyncIterable<ExecEvent> {
    const line = checkCommand(command)
    const checked = checkExecOptions(options)
    return streamExec(line, checked, (wishes) =>
      this.#execute({ command: line, options: { ...checked, ...wishes }, isConcurrent: true }),
    )
  }

  /** Throws INVALID_REQUEST if there is one of that name, QUEUE_FULL if there are too many, ACCESS_DENIED. */
  async createSession(options?: SessionOptions): Promise<SandboxSession> {
    this.#unfinished.requireAlive()
    return handleOf(this.#sessions.create(options), (...args) => this.exec(...args))
  }

  /** Undefined when there is none. */
  getSession(id: string): SandboxSession | undefined {
    const session = this.#sessions.find(id)
    return session && handleOf(session, (...args) => this.exec(...args))
  }

  /** Its running commands continue. Returns whether there was such a session. The default session cannot be deleted. */
  async deleteSession(id: string): Promise<boolean> {
    return this.#sessions.delete(id)
  }

  /** Sets variables for every later command of the user space, in every session. Not for secrets: all commands get them. */
  async setEnvVars(variables: Variables): Promise<void> {
    this.#unfinished.requireAlive()
    const set = this.#sessions.setVariables(variables)
    this.#contexts.setVariables(set)
    this.#governed.noteVariables(Object.keys(set))
  }

  /** Starts a command in the background, until it ends, is killed, or the sandbox ends. */
  async startProcess(command: string, options?: ProcessOptions): Promise<SandboxProcess> {
    return this.#unfinished.during(() => this.#processes.start(command, options))
  }

  listProcesses(): SandboxProcess[] {
    return this.#processes.list()
  }

  getProcess(id: string): SandboxProcess | undefined {
    return this.#processes.get(id)
  }

  /** Returns whether such a process was running. When this resolves, it and everything that it has started are gone. */
  async killProcess(id: string): Promise<boolean> {
    return this.#unfinished.during(() => this.#processes.kill(id))
  }

  /** Returns how many processes it has killed. */
  async killAllProcesses(): Promise<number> {
    return this.#unfinished.during(() => this.#processes.killAll())
  }

  /**
   * Opens a server on this port of the user space's loopback to programs of this machine. Bytes pass unchanged, so
   * WebSockets work. HTTP must name an address, `localhost` or one of `hosts`. No token is required; `socket` is for this
   * user alone. Each connection (64 at most) is a process of the sandbox, and counts as use.
   *
   * @throws {LazaretError} INVALID_REQUEST, QUEUE_FULL, SANDBOX_GONE.
   */
  async exposePort(port: number, options?: ExposePortOptions): Promise<ExposedPort> {
    return this.#unfinished.during(() => this.#ports.expose(port, options))
  }

  /**
   * Creates an interpreter that keeps variables, imports and functions from one piece of code to the next, in a process that
   * commands of the sandbox cannot see, signal or trace.
   */
  async createCodeContext(options?: CodeContextOptions): Promise<CodeContext> {
    return this.#unfinished.during(async () => this.#handleOf(await this.#contexts.create(options)))
  }

  /** Runs code in a context, and resolves when it has ended, successfully or not. */
  async runCode(code: string, options?: RunCodeOptions): Promise<CodeResult> {
    return this.#unfinished.during(() => this.#contexts.run(code, options))
  }

  listCodeContexts(): CodeContext[] {
    return this.#contexts.list().map((context) => this.#handleOf(context))
  }

  /** Undefined when there is none. */
  getCodeContext(id: string): CodeContext | undefined {
    const context = this.#contexts.find(id)
    return context && this.#handleOf(context)
  }

  /** Deletes a context and ends its running code. Returns whether there was such a context; it is gone when this resolves. */
  async deleteCodeContext(id: string): Promise<boolean> {
    return this.#unfinished.during(() => this.#contexts.delete(id))
  }

  /**
   * Starts the Jupyter server of the guests' Python, in a process that commands of the sandbox cannot see, signal or
   * reach, and opens a loopback port of this machine for it. The audit log does not record each piece of its code.
   *
   * @throws {LazaretError} INVALID_REQUEST, RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED.
   */
  async startJupyter(options?: JupyterOptions): Promise<JupyterServer> {
    return this.#unfinished.during(() => this.#jupyter.start(options))
  }

  /**
   * Ends everything in it. Resolves when everything is removed; a second call waits for the first.
   *
   * @throws {LazaretError} END_FAILED if something could not be removed; the next call tries again.
   */
  destroy(): Promise<void> {
    this.#unfinished.close()
    return this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.destroy()
  }

  #handleOf(context: LiveContext): CodeContext {
    return contextHandleOf(context, {
      runCode: (code, options) => this.runCode(code, options),
      interrupt: () => this.#unfinished.during(() => context.interrupt()),
      complete: (_context, text) =>
        this.#unfinished.during(async () => context.complete(checkCompleted(text))),
      fork: (_context, options) =>
        this.#unfinished.during(async () => this.#handleOf(await this.#contexts.fork(context, options))),
      restart: () => this.#unfinished.during(() => this.#contexts.restart(context)),
    })
  }

  /** No one waits for this end, so a failure is reported to the caller of `destroy()`, or of the disposal. */
  #endInBackground(): void {
    this.destroy().catch(() => undefined)
  }

  async #endAll(): Promise<void> {
    this.#isStuck = false
    try {
      await endInOrder(`Sandbox ${this.id} could not be ended`, [
        () => this.#activity.end(),
        () => this.#ports.end(),
        () => this.#sessions.end(),
        () => this.#contexts.end(),
        () => this.#jupyter.end(),
        () => this.#spaces[Symbol.asyncDispose](),
        () => this.#processes.end(),
      ])
    } catch (error) {
      this.#isStuck = true
      throw error
    }
    this.#isGone = true
    this.#unfinished.end()
    this.#parts.onGone()
  }

  #execute(request: Omit<ExecRequest, 'outputRoom'>): Promise<ExecResult> {
    const { allowDegradedSecrets, account, client } = this.#parts
    const clamped = this.clamped.map(({ limit }) => limit)
    const ground = { spaces: this.#spaces, sessions: this.#sessions, allowDegradedSecrets, clamped }
    return this.#unfinished.during(async () => {
      using outputRoom = account.reserve({ client, kind: 'output' })
      return await this.#governed.command(request, this.#sessions, (id) =>
        execute(ground, id, { ...request, outputRoom }),
      )
    })
  }
}
