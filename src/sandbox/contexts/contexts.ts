/** The code contexts of a sandbox: creates, finds, runs and ends them. */
import { endTogether } from '../../core/endings.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'
import { noRoom } from '../../core/errors/no-room.ts'
import type { HostFunction, OutputChunk } from '../../core/request.ts'
import type { ContextLanguage } from '../../core/work.ts'
import { checkName } from '../checks.ts'
import type { Governed } from '../governed.ts'
import type { Spaces } from '../spaces.ts'
import { LiveContext } from './code-context.ts'
import type { EntryDone } from './code-context.ts'
import { createCodeResult, unbegun, writeCodeData } from './code-result.ts'
import {
  checkCode,
  checkContextOptions,
  checkForkOptions,
  checkLanguage,
  checkMemory,
  checkRunCodeOptions,
} from './context-checks.ts'
import type { CheckedRunCode } from './context-checks.ts'
import type { ContextPrograms } from './context-program.ts'
import type { CodeContextOptions, CodeResult, ForkOptions, RunCodeOptions } from './context-types.ts'
import { WaitingContext } from './waiting-context.ts'

export type ReadFunctions = (
  functions: unknown,
  language: ContextLanguage,
) => Readonly<Record<string, HostFunction>>

export interface ContextsParts {
  readonly spaces: Spaces
  readonly governed: Governed
  readonly programs: ContextPrograms
  /** Throws INVALID_REQUEST for a value that is not a set of functions, and for names that the language cannot use. */
  readonly readFunctions: ReadFunctions
  /** The variables that commands have now. */
  readonly variables: () => Readonly<Record<string, string>>
  /** Counts the output that is kept for a result. */
  readonly reserveOutput: () => Reservation
}

/** Each has an interpreter. */
const contextsMax = 64
/** Its name in the harness of Python. */
const inputFunction = 'input()'

export class Contexts {
  readonly #parts: ContextsParts
  readonly #all = new Map<string, LiveContext>()
  readonly #defaults = new Map<ContextLanguage, Promise<LiveContext>>()

  readonly #waiting: WaitingContext
  #isOver = false

  constructor(parts: ContextsParts) {
    this.#parts = parts
    this.#waiting = new WaitingContext(parts.spaces.parts.clock)
  }

  list(): LiveContext[] {
    return [...this.#all.values()]
  }

  find(id: string): LiveContext | undefined {
    return this.#all.get(id)
  }

  async create(given?: CodeContextOptions): Promise<LiveContext> {
    const { spaces, programs, variables, readFunctions } = this.#parts
    const { id: name, language, folder = spaces.workspace, asked, functions } = checkContextOptions(given)
    const { limits: most } = spaces.parts
    const limits = { ...most, memoryBytes: checkMemory(asked.memoryBytes, most.memoryBytes) }
    const id = this.#newId(name)
    const program = programs[language]
    if (program instanceof LazaretError) throw program
    const own = readFunctions(functions, language)
    const waiting = this.#waiting
    const parts = { spaces, id, language, program, folder, limits, functions: own, variables, waiting }
    return this.#open(new LiveContext(parts))
  }

  /** Creates a second context with the state of the first. Throws FORK_REFUSED if that is impossible. */
  async fork(origin: LiveContext, given?: ForkOptions): Promise<LiveContext> {
    return this.#open(origin.forkAs(this.#newId(checkForkOptions(given))))
  }

  #newId(name: string | undefined): string {
    const id = name ?? this.#parts.spaces.parts.clock.id()
    if (this.#all.has(id))
      throw new LazaretError('INVALID_REQUEST', { detail: `id: a context "${id}" already exists.` })
    if (this.#all.size >= contextsMax)
      throw noRoom(`The sandbox has ${contextsMax} code contexts.`, 'Delete one with deleteCodeContext().')
    return id
  }

  async #open(context: LiveContext): Promise<LiveContext> {
    const { id } = context.parts
    this.#all.set(id, context)
    try {
      await this.#govern(context, () => context.open())
      return context
    } catch (error) {
      // It may have been deleted by now, and replaced by another one with the same name.
      if (this.#all.get(id) === context) this.#all.delete(id)
      await context.end().catch(() => undefined)
      throw error
    }
  }

  async run(given: unknown, options?: RunCodeOptions): Promise<CodeResult> {
    const code = checkCode(given, this.#parts.spaces.parts.limits.codeBytes)
    const checked = checkRunCodeOptions(options)
    const context = await this.#choose(checked)
    const { id, language } = context.parts
    using outputRoom = this.#parts.reserveOutput()
    const data = await this.#parts.governed.code({ context: id, language, code }, async (work) => {
      const entry = await context.run({ ...toEntry(context, code, checked), outputRoom })
      const done = entry === undefined ? { ...unbegun, isStateKept: true } : nameDeletion(entry, context)
      await reportEnd(done, checked)
      const { wall, limits } = this.#parts.spaces.parts
      const { timeoutMs } = checked
      const facts = { id: work, context: id, language, level: wall.machine.level, timeoutMs }
      return writeCodeData({ ...facts, limits: { ...limits, ...context.parts.limits } }, done)
    })
    // It was killed with the sandbox.
    if (this.#isOver && !data.isStateKept) throw new LazaretError('SANDBOX_GONE')
    return createCodeResult(data)
  }

  /** Restarts its interpreter, which counts as work, like the first start. */
  restart(context: LiveContext): Promise<void> {
    return this.#govern(context, () => context.restart())
  }

  /** Returns whether there was such a context. */
  async delete(id: string): Promise<boolean> {
    const context = this.#all.get(id)
    if (context === undefined) return false
    this.#all.delete(id)
    await context.end()
    return true
  }

  setVariables(variables: Readonly<Record<string, string | undefined>>): void {
    for (const context of this.#all.values()) context.setVariables(variables)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await endTogether('Code contexts could not be ended', [
      ...[...this.#all.values()].map((context) => () => context.end()),
      () => this.#waiting.end(),
    ])
  }

  /** Its memory is reserved until it is gone. */
  #govern(context: LiveContext, act: () => Promise<void>): Promise<void> {
    const { language, limits, variables } = context.parts
    return this.#parts.governed.context(
      { language, limits, variables: Object.keys(variables()) },
      async (begun) => {
        context.keep(begun.keep())
        await act()
      },
    )
  }

  async #choose({ context, language }: CheckedRunCode): Promise<LiveContext> {
    if (context === undefined) return this.#default(checkLanguage(language))
    const id = checkName(typeof context === 'object' ? context.id : context, 'context') ?? ''
    const found = this.#all.get(id)
    if (found === undefined) throw new LazaretError('CONTEXT_GONE', { detail: `Context ${id}.` })
    const { language: own } = found.parts
    if (language !== undefined && checkLanguage(language) !== own)
      throw new LazaretError('INVALID_REQUEST', { detail: `language: the context ${id} runs ${own}.` })
    return found
  }

  /** Created on demand; concurrent callers get the same one. */
  async #default(language: ContextLanguage): Promise<LiveContext> {
    const known = this.#defaults.get(language)
    if (known !== undefined) {
      const context = await known.catch(() => undefined)
      if (context !== undefined && context.status !== 'gone') return context
      const later = this.#defaults.get(language)
      if (later !== undefined && later !== known) return later
    }
    const created = this.create({ language })
    this.#defaults.set(language, created)
    return created
  }
}

function nameDeletion(done: EntryDone, { status }: LiveContext): EntryDone {
  return done.isStateKept || status !== 'gone' ? done : { ...done, note: 'The context was deleted.' }
}

function toEntry({ parts }: LiveContext, code: string, checked: CheckedRunCode) {
  const { timeoutMs, signal, onInput, onLog, onResult, onClear } = checked
  const ask = (prompt: unknown) => {
    // Converting anything else to a string can take for ever, such as lists that contain a list many times.
    if (typeof prompt !== 'string') throw new TypeError('The prompt must be a string.')
    return onInput?.(prompt)
  }
  return {
    code,
    asks: onInput !== undefined,
    timeoutMs,
    signal,
    onLog,
    onDisplay: onResult,
    onClear,
    onOutput: outputOf(checked),
    functions: { ...parts.functions, ...(onInput === undefined ? {} : { [inputFunction]: ask }) },
  }
}

function outputOf({ onStdout, onStderr }: CheckedRunCode) {
  if (onStdout === undefined && onStderr === undefined) return undefined
  return ({ stream, text }: OutputChunk) => (stream === 'stdout' ? onStdout : onStderr)?.(text)
}

/** Calls the callbacks for what is known only at the end of the code. */
async function reportEnd(
  { claims, outcome }: EntryDone,
  { onResult, onError }: CheckedRunCode,
): Promise<void> {
  const { value, displays } = claims
  // A value with rich formats has been displayed already.
  if (value !== undefined && displays.length === 0) await onResult?.({ 'text/plain': value.text }, {})
  if ('error' in outcome) onError?.(outcome.error)
}
