/**
 * The protocol of the actors that execute code: every message gets an answer, whatever happens. The actors differ only in
 * how they run the code.
 */
import { systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { messageOf } from '../../core/primordials.ts'
import type { RunResult } from '../../core/result.ts'
import { checkMessage, type Execution, type TimeoutRules, whyNoTimeout } from './check-message.ts'
import { describeRun } from './describe-run.ts'
import type { Answer, Message, MessageResponse, ResponseNames } from './message.ts'

export type Execute = (execution: Execution) => Promise<RunResult>

/** The address from which every actor of this kind answers. */
const ownAddress = '@(code-execution)'

export class CodeExecutionActor {
  readonly #rules: TimeoutRules
  readonly #execute: Execute

  constructor(rules: TimeoutRules, execute: Execute) {
    const wrong = whyNoTimeout(rules.defaultTimeoutMs, rules.timeoutMsMax)
    if (wrong !== undefined)
      throw new LazaretError('INVALID_REQUEST', {
        detail: `defaultTimeoutMs: ${wrong}.`,
        hint: 'Give milliseconds, or leave it out for 5000. `ceilings.wallMs` in the options raises the maximum.',
      })
    this.#rules = rules
    this.#execute = execute
  }

  /** Never rejects: whatever the message is and whatever its code does, there is an answer. */
  async receive(message: Message): Promise<MessageResponse> {
    const names = writeNames(message)
    const answer = await this.#answer(message)
    return { ...names, timestamp: Date.parse(systemClock.timestamp()), ...answer }
  }

  async #answer(message: Message): Promise<Answer> {
    try {
      const execution = checkMessage(message, this.#rules)
      if (typeof execution === 'string') return { success: false, error: execution }
      return describeRun(await this.#execute(execution), execution)
    } catch (error) {
      return { success: false, error: describeRefusal(error) }
    }
  }
}

function writeNames(message: Message): Omit<ResponseNames, 'timestamp'> {
  const { id, from, correlationId } = readNames(message)
  const ownId = id ?? systemClock.id()
  return {
    id: `${ownId}_response`,
    correlationId: correlationId ?? ownId,
    from: ownAddress,
    to: from ?? ownAddress,
  }
}

/** An answer repeats a name with a suffix, so a name must be shorter than the engine's longest string. */
const nameLengthMax = 1024 * 1024

/**
 * Reads the names that are usable strings. Even a value that is not a message gets an answer, and its getters may
 * throw.
 */
function readNames(message: unknown): Partial<Record<'id' | 'from' | 'correlationId', string>> {
  if (typeof message !== 'object' || message === null) return {}
  const names = ['id', 'from', 'correlationId'] as const
  return Object.fromEntries(names.flatMap((name) => readName(message, name)))
}

function readName(message: object, name: string): readonly (readonly [string, string])[] {
  try {
    const value: unknown = Reflect.get(message, name)
    // Untyped code also uses numbers as names.
    if (typeof value === 'number') return [[name, `${value}`]]
    return typeof value === 'string' && value.length <= nameLengthMax ? [[name, value]] : []
  } catch {
    return []
  }
}

/** Why nothing ran, and what to do: our errors take both from one table. A getter of the message may throw anything. */
function describeRefusal(error: unknown): string {
  if (isOurs(error) && error.code === 'DISPOSED')
    return 'The actor was disposed, or the Lazaret that it uses. Create a new one.'
  if (isOurs(error)) return `${error.message} ${error.hint}`
  return `The message could not be read: ${messageOf(error)}`
}

/** A proxy may throw when it is inspected. */
function isOurs(error: unknown): error is LazaretError {
  try {
    return error instanceof LazaretError
  } catch {
    return false
  }
}
