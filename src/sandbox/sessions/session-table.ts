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
  #variables: Variables

  constructor(spaces: Spaces, env: Variables) {
    this.#spaces = spaces
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

  /** Throws INVALID_REQUEST, QUEUE_FULL. */
  create(given?: SessionOptions): Session {
    const options = checkKeys(given, ['id', 'env', 'cwd'])
    const id = checkName(options.id, 'id') ?? this.#spaces.parts.clock.id()
    if (this.#all.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a session "${id}" exists already.` })
    if (this.#all.size >= sessionsMax)
      throw noRoom(`The sandbox has ${sessionsMax} sessions.`, 'Delete one with deleteSession().')
    return this.#make({ ...options, id })
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

  /** Returns the variables that were set. */
  setVariables(variables: Variables): Variables {
    const checked = checkVariables(variables, { keepsUnset: true })
    this.#variables = { ...this.#variables, ...checked }
    for (const session of this.#all.values()) session.setVariables(checked)
    return checked
  }

  end(): void {
    for (const session of this.#all.values()) session.end()
  }

  #make({ id = defaultSession, env, cwd }: SessionOptions): Session {
    const own = checkVariables(env)
    const session = new Session(this.#spaces, {
      id,
      folder: checkFolder(cwd) ?? this.#spaces.workspace,
      variables: () => ({ ...this.#variables, ...own }),
    })
    this.#all.set(id, session)
    return session
  }
}
