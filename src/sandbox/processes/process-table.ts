/** The background processes of a sandbox: the running ones, and the last of the ended ones. */
import { LazaretError } from '../../core/errors/errors.ts'
import { noRoom } from '../../core/errors/no-room.ts'
import type { HostAccount } from '../../core/host-account.ts'
import { endOfProgram } from '../../core/work-end.ts'
import type { WorkEnd } from '../../core/work-end.ts'
import type { TerminalSize } from '../../jail/cell/guest-process.ts'
import type { Activity } from '../activity.ts'
import { checkCommand, checkExecOptions, checkKeys, checkName, execKeys } from '../checks.ts'
import type { Command } from '../commands/command.ts'
import type { CommandEnd } from '../commands/command-end.ts'
import type { Governed } from '../governed.ts'
import { batchBytesMax } from './log-batch.ts'
import { Log } from './log.ts'
import { LogRoom } from './log-room.ts'
import { isListening } from '../ports/is-listening.ts'
import { BackgroundProcess } from './processes.ts'
import type { Session, SessionCommand } from '../sessions/session.ts'
import type { Sessions } from '../sessions/session-table.ts'
import type { Spaces } from '../spaces.ts'
import { startTerminal } from './terminal.ts'
import type { ProcessOptions } from '../types.ts'

export interface ProcessesParts {
  readonly spaces: Spaces
  readonly sessions: Sessions
  readonly activity: Activity
  readonly governed: Governed
  readonly account: HostAccount
  readonly client: string | undefined
}

/** The checked options of a process. */
interface Launch {
  readonly id: string
  readonly wishes: SessionCommand
  readonly session: Session
  readonly tty: TerminalSize | undefined
}

/** Undefined if the sandbox has ended. */
const endOf = (end: CommandEnd | undefined): WorkEnd =>
  end === undefined ? { outcome: 'killed' } : { ...endOfProgram(end.outcome), usage: end.usage }

export const runningMax = 48
/** The ended processes that are remembered, and the characters of their commands together. */
export const history = { max: 256, charactersMax: 256 * 1024 }
/** At one time, of all logs of the sandbox. */
export const readersMax = { followers: 64, searches: 64 }
/** What a follower holds that does not take its chunks: their bytes and text. */
const followerBytes = 3 * batchBytesMax

export class Processes {
  readonly #parts: ProcessesParts
  readonly #all = new Map<string, BackgroundProcess>()
  readonly #logs: LogRoom
  readonly #readers = { followers: 0, searches: 0 }

  constructor(parts: ProcessesParts) {
    this.#parts = parts
    this.#logs = new LogRoom(parts.account, parts.client)
  }

  /** What its processes have printed no longer counts as held. */
  end(): void {
    this.#logs[Symbol.dispose]()
  }

  /** Resolves when it runs. */
  async start(command: string, given?: ProcessOptions): Promise<BackgroundProcess> {
    const { spaces, sessions, governed, account, client } = this.#parts
    const { clock } = spaces.parts
    const { id: name, ...options } = checkKeys(given, ['id', ...execKeys])
    const line = checkCommand(command)
    const checked = checkExecOptions(options)
    const { env, variables, sessionId, tty, cwd, stdin, timeout, signal, onOutput } = checked
    const id = checkName(name, 'id') ?? clock.id()
    this.#requireRoom(id)
    if (Object.keys(env).length > 0)
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'env: credentials are for exec(); a background process would keep them.',
        hint: 'Use `variables` for values that are not secret.',
      })
    const begun = await governed.beginProcess(line, variables)
    const held = account.reserve({ client, kind: 'bodies' })
    try {
      // A character takes up to two bytes.
      held.resize(2 * line.length)
      // Others may have started while the policy decided.
      this.#requireRoom(id)
      const timeoutMs = timeout ?? undefined
      const wishes = { command: line, folder: cwd, stdin, variables, timeoutMs, signal, onOutput }
      const [process, handle] = this.#launch({ id, wishes, session: sessions.get(sessionId), tty })
      const end = process.ended.catch(() => undefined)
      void end.then(() => held[Symbol.dispose]())
      void end.then((how) => begun.end(endOf(how))).catch(() => undefined)
      this.#keep(handle)
      return await process.started.then(() => handle)
    } catch (error) {
      held[Symbol.dispose]()
      await begun.fail(error)
      throw error
    }
  }

  #launch({ id, wishes, session, tty }: Launch): readonly [Command, BackgroundProcess] {
    const { spaces, activity, client } = this.#parts
    const { clock } = spaces.parts
    const logs = this.#logs
    const { command, stdin } = wishes
    const log = new Log(logs, client)
    const told = { ...wishes, log }
    const process =
      tty === undefined
        ? session.startConcurrent(told, { isBackground: true })
        : startTerminal(spaces, session, { ...told, size: tty, isBackground: true })
    const handle = new BackgroundProcess({
      ...{ id, command, process, log },
      takesInput: stdin === undefined || tty !== undefined,
      hasTerminal: tty !== undefined,
      client: client ?? '',
      isListening: (port) => isListening(spaces, port),
      enter: () => activity.enter(),
      follow: () => this.#take('followers'),
      search: () => this.#take('searches'),
      after: (ms, callback) => clock.after(ms, callback),
    })
    this.#logs.add(log)
    void handle.ended.then(() => this.#logs.end(log))
    return [process, handle]
  }

  /** Counts a reader until the returned function is called. Throws QUEUE_FULL, CLIENT_QUEUE_FULL. */
  #take(what: keyof typeof readersMax): () => void {
    if (this.#readers[what] >= readersMax[what])
      throw noRoom(
        `The logs of the sandbox already have ${readersMax[what]} ${what}.`,
        'End a `streamLogs()`, a terminal or a `waitForLog()` of the sandbox.',
      )
    const { account, client } = this.#parts
    const held = account.reserve({ client, kind: 'answers' }, what === 'followers' ? followerBytes : 0)
    this.#readers[what]++
    return () => {
      this.#readers[what]--
      held[Symbol.dispose]()
    }
  }

  list(): BackgroundProcess[] {
    return [...this.#all.values()]
  }

  get(id: string): BackgroundProcess | undefined {
    return this.#all.get(id)
  }

  async kill(id: string): Promise<boolean> {
    const process = this.#all.get(id)
    if (process?.status !== 'running') return false
    process.kill('SIGKILL')
    await process.ended
    return true
  }

  async killAll(): Promise<number> {
    const killed = await Promise.all([...this.#all.keys()].map((id) => this.kill(id)))
    return killed.filter(Boolean).length
  }

  #requireRoom(id: string): void {
    if (this.#all.get(id)?.status === 'running')
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a process "${id}" already runs.` })
    const running = this.list().filter(({ status }) => status === 'running')
    if (running.length >= runningMax)
      throw noRoom(
        `The sandbox already runs ${runningMax} processes.`,
        'Kill one, or wait until one has ended.',
      )
  }

  /** Forgets the oldest ended ones. */
  #keep(process: BackgroundProcess): void {
    this.#forget(process.id)
    this.#all.set(process.id, process)
    const ended = this.list().filter(({ status }) => status !== 'running')
    let characters = ended.reduce((sum, { command }) => sum + command.length, 0)
    for (const { id, command } of ended) {
      if (this.#all.size <= history.max && characters <= history.charactersMax) return
      characters -= command.length
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    this.#all.get(id)?.dropLog(this.#logs)
    this.#all.delete(id)
  }
}
