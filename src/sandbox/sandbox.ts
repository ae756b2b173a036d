/**
 * A sandbox: a small machine that stays. Commands run in its user space, and those with credentials each in a space of
 * their own; sessions, processes and files last as long as it does.
 */
import { endInOrder, endOnce } from '../core/endings.ts'
import { endOfProgram } from '../core/work-end.ts'
import type { Governor } from '../policy/governor.ts'
import { Activity } from './activity.ts'
import { checkCommand, checkExecOptions } from './checks.ts'
import { execute } from './exec.ts'
import type { ExecRequest } from './exec.ts'
import { streamExec } from './exec-stream.ts'
import type { ExecEvent } from './exec-stream.ts'
import type { FileInfo } from './files/file-info.ts'
import type { FileListing } from './files/file-listing.ts'
import type { DownloadTarOptions } from './files/download-tar.ts'
import type {
  ListFilesOptions,
  ReadFileOptions,
  SandboxFiles,
  WriteFileOptions,
} from './files/sandbox-files.ts'
import type { TarSource } from './files/tar-source.ts'
import type { UploadedTar, UploadTarOptions } from './files/upload-tar.ts'
import { Governed } from './governed.ts'
import { openFiles, placeFiles } from './open-files.ts'
import { Processes } from './process-table.ts'
import type { SandboxProcess } from './processes.ts'
import { handleOf } from './session-handle.ts'
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
import { Unfinished } from './unfinished.ts'

export interface SandboxParts extends SpacesParts {
  readonly id: string
  readonly client: string | undefined
  readonly governor: Governor
  readonly env: Variables
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly idleTimeoutMs: number | undefined
  readonly allowDegradedSecrets: boolean
  /** Called once, when nothing of it is left that could be removed. */
  readonly onGone: (sandbox: Sandbox) => void
}

export class Sandbox implements AsyncDisposable {
  readonly id: string
  readonly #parts: SandboxParts
  readonly #spaces: Spaces
  readonly #sessions: Sessions
  readonly #processes: Processes
  readonly #activity: Activity
  readonly #governed: Governed
  readonly #files: SandboxFiles
  readonly #end = endOnce(() => this.#endAll())
  readonly #unfinished: Unfinished
  #isGone = false
  #isStuck = false

  private constructor(parts: SandboxParts, spaces: Spaces) {
    const { id, client, governor, clock } = parts
    const governed = new Governed({ governor, id, client, nextId: () => clock.id() })
    this.id = id
    this.#governed = governed
    this.#parts = parts
    this.#spaces = spaces
    this.#sessions = new Sessions(spaces, parts.env)
    const activity = new Activity({
      clock,
      hold: (isHeld) => spaces.hold(isHeld),
      idleTimeoutMs: parts.idleTimeoutMs,
      onIdle: () => this.#endUnasked(),
    })
    this.#activity = activity
    const unfinished = new Unfinished(id, activity)
    this.#unfinished = unfinished
    this.#files = openFiles({ spaces, governed, unfinished })
    this.#processes = new Processes({ spaces, sessions: this.#sessions, activity, governed })
    // The kernel may end it, and so may whoever administers the machine.
    void spaces.user.cell.gone.then(() => this.#endUnasked())
  }

  /** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async create(parts: SandboxParts): Promise<Sandbox> {
    const sandbox = new Sandbox(parts, await Spaces.open(parts))
    try {
      await placeFiles(parts, sandbox.#spaces, sandbox.#files)
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
    this.#unfinished.requireAlive()
    return handleOf(this.#sessions.create(options), (...args) => this.exec(...args))
  }

  /** Undefined when there is none. */
  getSession(id: string): SandboxSession | undefined {
    const session = this.#sessions.find(id)
    return session && handleOf(session, (...args) => this.exec(...args))
  }

  /** Its commands that run go on. Answers whether there was one. The default session stays. */
  async deleteSession(id: string): Promise<boolean> {
    return this.#sessions.delete(id)
  }

  /** Variables of every later command of the user space, in every session. Not for secrets: they reach all of it. */
  async setEnvVars(variables: Variables): Promise<void> {
    this.#unfinished.requireAlive()
    this.#sessions.setVariables(variables)
  }

  /** Starts a command that goes on beside others, until it ends, is killed, or the sandbox ends. */
  async startProcess(command: string, options?: ProcessOptions): Promise<SandboxProcess> {
    return this.#unfinished.during(() => this.#processes.start(command, options))
  }

  listProcesses(): SandboxProcess[] {
    return this.#processes.list()
  }

  getProcess(id: string): SandboxProcess | undefined {
    return this.#processes.get(id)
  }

  /** Answers whether there was one that ran. It is gone, with everything that it has started, when this resolves. */
  async killProcess(id: string): Promise<boolean> {
    return this.#unfinished.during(() => this.#processes.kill(id))
  }

  /** Answers how many. */
  async killAllProcesses(): Promise<number> {
    return this.#unfinished.during(() => this.#processes.killAll())
  }

  /** Writes into the file that is there, like a shell's `>`: it keeps its mode. A new one gets 0644. */
  writeFile(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<void> {
    return this.#files.writeFile(path, content, options)
  }

  readFile(
    path: string,
    options?: ReadFileOptions & { readonly encoding?: 'utf8' | 'base64' },
  ): Promise<string>
  readFile(path: string, options: ReadFileOptions & { readonly encoding: 'bytes' }): Promise<Uint8Array>
  readFile(path: string, options?: ReadFileOptions): Promise<string | Uint8Array> {
    return this.#files.readFile(path, options)
  }

  /** However long the file is. One that cannot be read rejects the first step. */
  readFileStream(path: string): AsyncIterable<Uint8Array> {
    return this.#files.readFileStream(path)
  }

  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.#files.mkdir(path, options)
  }

  listFiles(path?: string, options?: ListFilesOptions): Promise<FileListing> {
    return this.#files.listFiles(path, options)
  }

  /** Of what a link leads to, unless `followLinks` is false. */
  stat(path: string, options?: { readonly followLinks?: boolean }): Promise<FileInfo> {
    return this.#files.stat(path, options)
  }

  /** False also for a link that leads nowhere. */
  exists(path: string): Promise<boolean> {
    return this.#files.exists(path)
  }

  /** A link is deleted, not what it leads to. A folder only with `recursive`, and then with all that is in it. */
  deleteFile(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.#files.deleteFile(path, options)
  }

  /** As rename(2): a file that has the new name is replaced, an empty folder by a folder. */
  renameFile(from: string, to: string): Promise<void> {
    return this.#files.renameFile(from, to)
  }

  /** Like `renameFile`; regular files also go to another file system, by a copy that is not atomic. */
  moveFile(from: string, to: string): Promise<void> {
    return this.#files.moveFile(from, to)
  }

  /** Unpacks a tar, or one in gzip, as it comes. What was unpacked before a refused entry stays. */
  uploadTar(source: TarSource, options?: UploadTarOptions): Promise<UploadedTar> {
    return this.#files.uploadTar(source, options)
  }

  /** A tar of what is in a folder, as it is read. */
  downloadTar(options?: DownloadTarOptions): AsyncIterable<Uint8Array> {
    return this.#files.downloadTar(options)
  }

  /**
   * Ends everything in it. Resolves when nothing of it is left; a second call waits for the first.
   *
   * @throws {LazaretError} END_FAILED when something of it could not be removed; the next call tries again.
   */
  destroy(): Promise<void> {
    this.#unfinished.close()
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
    this.#unfinished.end()
    this.#parts.onGone(this)
  }

  #execute(request: ExecRequest): Promise<ExecResult> {
    const { allowDegradedSecrets } = this.#parts
    const ground = { spaces: this.#spaces, sessions: this.#sessions, allowDegradedSecrets }
    const endOf = ({ outcome }: ExecResult) => endOfProgram(outcome)
    return this.#unfinished.during(() =>
      this.#governed.command(request, () => execute(ground, request), endOf),
    )
  }
}
