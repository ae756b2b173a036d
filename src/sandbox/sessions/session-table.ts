/** The sessions of a sandbox, and the variables with which all of them begin. */
import { LazaretError } from '../../core/errors/errors.ts'
import { noRoom } from '../../core/errors/no-room.ts'
import { checkFolder, checkKeys, checkName, checkVariables } from '../checks.ts'
import { Session } from './session.ts'
import type { Spaces } from '../spaces.ts'
import type { SessionOptions, Variables } from '../types.ts'
import { userVariables } from '../commands/user-variables.ts'

const defaultSession = 'default'
const sessionsMax = 64

export class Sessions {
  readonly #spaces: Spaces
  readonly #all = new Map<string, Session>()
  readonly #requireVariables: (names: readonly string[]) => void
  #variables: Variables

  /** `requireVariables` throws if commands may not get variables. */
  constructor(spaces: Spaces, env: Variables, requireVariables: (names: readonly string[]) => void) {
    this.#spaces = spaces
    this.#requireVariables = requireVariables
    this.#variables = {
      ...userVariables(spaces),
      ...env,
    }
    this.#make({ id: defaultSession })
  }

  /** The variables with which every new session begins. */
  get variables(): Readonly<Record<string, string>> {
    const set = Object.entries(this.#variables).filter(([, value]) => value !== undefined)
    return Object.fromEntries(set) as Readonly<Record<string, string>>
  }

  /** Throws INVALID_REQUEST, QUEUE_FULL, ACCESS_DENIED. */
  create(given?: SessionOptions): Session {
    const options = checkKeys(given, ['id', 'env', 'cwd'])
    const id = checkName(options.id, 'id') ?? this.#spaces.parts.clock.id()
    if (this.#all.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a session "${id}" already exists.` })
    if (this.#all.size >= sessionsMax)
      throw noRoom(`The sandbox has ${sessionsMax} sessions.`, 'Delete one with deleteSession().')
    const env = checkVariables(options.env)
    this.#requireVariables(Object.keys(env))
    return this.#make({ ...options, env, id })
  }

  find(id: string): Session | undefined {
    return this.#all.get(id)
  }

  /** The default session for undefined. Throws SESSION_GONE. */
  get(id = defaultSession): Session {
    const session = this.#all.get(id)
    if (session === undefined) throw new LazaretError('SESSION_GONE', { detail: `Session ${id}.` })
    return session
  }

  /** Returns whether there was such a session; the default session stays. */
  delete(id: string): boolean {
    const session = id === defaultSession ? undefined : this.#all.get(id)
    if (session === undefined) return false
    this.#all.delete(id)
    session.end()
    return true
  }

  /** The names of the variables that only this session has. None if there is no such session. */
  ownVariables(id = defaultSession): readonly string[] {
    return this.#all.get(id)?.ownVariables ?? []
  }

  /** Returns the variables that were set. Throws INVALID_REQUEST, ACCESS_DENIED. */
  setVariables(variables: Variables): Variables {
    const checked = checkVariables(variables, { keepsUnset: true })
    this.#requireVariables(Object.keys(checked))
    this.#variables = { ...this.#variables, ...checked }
    for (const session of this.#all.values()) session.setVariables(checked)
    return checked
  }

  end(): void {
    for (const session of this.#all.values()) session.end()
  }

  #make({ id = defaultSession, env = {}, cwd }: SessionOptions): Session {
    const session = new Session(this.#spaces, {
      id,
      ownVariables: Object.keys(env),
      folder: checkFolder(cwd) ?? this.#spaces.workspace,
      variables: () => ({ ...this.#variables, ...env }),
    })
    this.#all.set(id, session)
    return session
  }
}
