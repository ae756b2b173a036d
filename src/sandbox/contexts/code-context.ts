/** A code context: its interpreter, which is restarted if it has ended, and the queue of code. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { HostFunction } from '../../core/request.ts'
import type { ContextLanguage } from '../../core/work.ts'
import type { Spaces } from '../spaces.ts'
import { ContextEntry } from './context-entry.ts'
import type { EntryEnd, EntryWishes } from './context-entry.ts'
import type { ContextProcess } from './context-process.ts'
import type { ContextProgram } from './context-program.ts'
import { noteCalls, refuseEndlessWait } from './endless-calls.ts'
import { forkRefused, interpreterHasEnded, nodeCannotFork, refusedByGuest } from './fork-obstacles.ts'
import type { WaitingContext } from './waiting-context.ts'

export interface ContextParts {
  readonly spaces: Spaces
  readonly id: string
  readonly language: ContextLanguage
  readonly program: ContextProgram
  readonly folder: string
  readonly limits: Limits
  readonly functions: Readonly<Record<string, HostFunction>>
  /** The variables with which its interpreter starts. */
  readonly variables: () => Readonly<Record<string, string>>
  readonly waiting: WaitingContext
}

export interface EntryAsked extends EntryWishes {
  readonly code: string
  /** Whether the caller answers `input()`. */
  readonly asks: boolean
}

/** A piece of code that ended, with the layers that protected it, and the traffic of its sandbox meanwhile. */
export interface EntryDone extends EntryEnd {
  readonly evidence: ContextProcess['evidence']
  readonly start: 'cold' | 'parked'
}

interface Begun {
  readonly entry: ContextEntry
  readonly process: ContextProcess
}

/** Code that waits for its turn in one context. */
const waitingMax = 64
/** How long a harness may take to report its start. */
const bootMs = 30_000
/** How long the check whether a context can be forked may take. */
const forkMs = 5000
/** Short, because a person waits after pressing a key. */
const completeMs = 300
const matchesMax = 100
const matchCharactersMax = 200

export class LiveContext {
  readonly parts: ContextParts
  #process: ContextProcess | undefined
  #entry: ContextEntry | undefined
  /** Code that waits for an interpreter, and does not begin if it is cancelled. */
  #beginning: { isCalledOff: boolean } | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #variables: Record<string, string | null> = {}
  #isGone = false
  /** The context whose state it gets. */
  #origin: LiveContext | undefined
  /** Releases its reserved memory. */
  #giveBack: () => void = () => undefined

  constructor(parts: ContextParts) {
    this.parts = parts
  }

  /** A second context with the same state, named `id`. It is created when it is opened, after the code that is queued here. */
  forkAs(id: string): LiveContext {
    const fork = new LiveContext({ ...this.parts, id })
    fork.#origin = this
    return fork
  }

  get status(): 'running' | 'idle' | 'gone' {
    if (this.#isGone) return 'gone'
    return this.#waiting > 0 ? 'running' : 'idle'
  }

  /** Resolves when it can take code. Throws what starting an interpreter throws, and INVALID_REQUEST for its folder. */
  async open(): Promise<void> {
    await this.#inTurn(async () => {
      const origin = this.#origin
      this.#origin = undefined
      if (origin === undefined) await this.#stand()
      else await this.#takeStateOf(origin)
    })
  }

  async #takeStateOf(origin: LiveContext): Promise<void> {
    refuseEndlessWait(origin)
    await origin.#inTurn(async () => {
      this.#process = await origin.#fork()
      this.#variables = { ...origin.#variables }
    })
    this.#requireThere()
  }

  /** Throws FORK_REFUSED with the reason. */
  async #fork(): Promise<ContextProcess> {
    const process = this.#process
    if (this.parts.language !== 'python') throw forkRefused(nodeCannotFork)
    if (process === undefined || process.isLost) throw forkRefused(interpreterHasEnded)
    const { outcome, isStateKept } = await this.#enter(process, forkWishes, { fork: true }).ended
    if (outcome.kind !== 'completed' || !isStateKept) throw refusedByGuest(undefined)
    if (outcome.exitCode !== 0) throw refusedByGuest(outcome.exitCode)
    return process.fork()
  }

  /** Reserves memory until it is gone; an earlier reservation is released now. */
  keep(giveBack: () => void): void {
    if (this.#isGone) {
      giveBack()
      return
    }
    this.#giveBack()
    this.#giveBack = giveBack
  }

  /** Takes effect with its next code. */
  setVariables(variables: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(variables)) this.#variables[name] = value ?? null
  }

  /** Runs after all earlier code. Undefined if it was cancelled before it began. */
  async run(asked: EntryAsked): Promise<EntryDone | undefined> {
    refuseEndlessWait(this)
    const stopped = await this.#inTurn(() => this.#runOut(asked))
    // The next code may begin before the callbacks of this code have finished, because one of them may await that code.
    return stopped && { ...(await stopped.entry.ended), evidence: stopped.evidence, start: stopped.start }
  }

  async #runOut(asked: EntryAsked) {
    if (asked.signal?.aborted === true) return undefined
    const start = this.#process?.isLost === false ? ('parked' as const) : ('cold' as const)
    const begun = await this.#begin(asked)
    if (begun === undefined) return undefined
    const { entry, process } = begun
    const metSince = this.parts.spaces.watchNetwork()
    try {
      await entry.stopped
      return { entry, start, evidence: { ...process.evidence, network: metSince() } }
    } finally {
      this.#entry = undefined
      if (process.isLost) await this.#endProcess()
    }
  }

  /** Empty while code runs or waits, or without an interpreter. */
  async complete(text: string): Promise<readonly string[]> {
    if (this.status !== 'idle') return []
    return this.#inTurn(async () => {
      const process = this.#process
      if (process === undefined || process.isLost) return []
      const { claims } = await this.#enter(process, completeWishes, { complete: text }).ended
      if (process.isLost) await this.#endProcess()
      return readMatches(claims.value?.live)
    })
  }

  async interrupt(): Promise<boolean> {
    if (this.#callOff()) return true
    const entry = this.#entry
    entry?.interrupt('cancelled')
    // Does not wait for the code's callbacks, because one of them may be waiting for this.
    await entry?.stopped
    return entry !== undefined
  }

  /** Ends its running code; queued code runs in the new interpreter. */
  async restart(): Promise<void> {
    // A starting interpreter is left alone, so its waiting callers see no failure.
    this.#callOff()
    if (this.#entry !== undefined) this.#process?.kill()
    await this.#inTurn(async () => {
      await this.#endProcess()
      await this.#stand()
    })
  }

  /** Resolves when it is gone. */
  async end(): Promise<void> {
    this.#isGone = true
    this.#process?.kill()
    await this.#last
    try {
      await this.#endProcess()
    } finally {
      this.#giveBack()
    }
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    this.#requireThere()
    if (this.#waiting >= waitingMax)
      throw new LazaretError('QUEUE_FULL', {
        detail: `${waitingMax} pieces of code are queued for context ${this.parts.id}.`,
      })
    this.#waiting += 1
    const turn = this.#last.then(() => {
      this.#requireThere()
      return act()
    })
    this.#last = turn.catch(() => undefined)
    return turn.finally(() => (this.#waiting -= 1))
  }

  /** Returns whether it has cancelled code that had not begun. */
  #callOff(): boolean {
    if (this.#beginning === undefined) return false
    this.#beginning.isCalledOff = true
    return true
  }

  /** Undefined if the code was cancelled in the meantime. */
  async #begin(asked: EntryAsked): Promise<Begun | undefined> {
    const beginning = { isCalledOff: false }
    this.#beginning = beginning
    try {
      const process = await this.#stand()
      this.#requireThere()
      if (beginning.isCalledOff || asked.signal?.aborted === true) return undefined
      const variables = this.#variables
      this.#variables = {}
      const { code, asks, ...wishes } = asked
      const { functionCallsMax: callsMax, functionMs } = this.parts.limits
      const isEndless = asked.timeoutMs === null && functionMs === null
      const functions = isEndless ? noteCalls(this, asked.functions) : asked.functions
      const entry = this.#enter(process, { ...wishes, functions }, { code, asks, variables, callsMax })
      this.#entry = entry
      return { entry, process }
    } finally {
      this.#beginning = undefined
    }
  }

  /** Throws CONTEXT_GONE if the context was ended in the meantime: `end()` ends the process too. */
  async #stand(): Promise<ContextProcess> {
    if (this.#process?.isLost === false) return this.#process
    await this.#endProcess()
    const { spaces, program, limits, variables, language, folder, functions, waiting } = this.parts
    const kind = { spaces, program, limits, env: variables() }
    // Variables that are set later are not included.
    this.#variables = {}
    const process = await waiting.take(kind)
    this.#process = process
    this.#requireThere()
    const names = Object.keys(functions)
    const { outcome, claims, isStateKept } = await this.#enter(process, bootWishes, {
      context: language,
      folder,
      resultBytes: limits.resultBytes,
      ...(names.length === 0 ? {} : { functions: { names } }),
    }).ended
    this.#requireThere()
    if (isStateKept && outcome.kind === 'completed' && outcome.exitCode === 0) {
      waiting.prepare(kind)
      return process
    }
    await this.#endProcess()
    const detail = claims.error?.error.message
    if (detail !== undefined && detail !== '')
      throw new LazaretError('INVALID_REQUEST', { detail: `${detail}.` })
    throw new LazaretError('CELL_FAILED', { detail: 'The interpreter of the code context did not start.' })
  }

  #enter(process: ContextProcess, wishes: EntryWishes, message: object): ContextEntry {
    const { limits, spaces } = this.parts
    return new ContextEntry({ ...wishes, process, limits, clock: spaces.parts.clock }, message)
  }

  async #endProcess(): Promise<void> {
    const process = this.#process
    this.#process = undefined
    await process?.end()
  }

  #requireThere(): void {
    if (this.#isGone)
      throw new LazaretError('CONTEXT_GONE', { detail: `Context ${this.parts.id} was deleted.` })
  }
}

const bootWishes: EntryWishes = { timeoutMs: bootMs, functions: {} }
const completeWishes: EntryWishes = { timeoutMs: completeMs, functions: {} }
const forkWishes: EntryWishes = { timeoutMs: forkMs, functions: {} }

/** The harness's report, which is only a claim. */
function readMatches(claimed: unknown): string[] {
  if (!Array.isArray(claimed)) return []
  const isMatch = (one: unknown): one is string => typeof one === 'string' && one.length <= matchCharactersMax
  return claimed.slice(0, matchesMax).filter(isMatch)
}
