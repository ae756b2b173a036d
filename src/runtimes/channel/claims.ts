/** Stores a guest's claims within the run's limits: logs, displays, its value, its error. */
import { StringDecoder } from 'node:string_decoder'

import { decodeSteps } from '../../core/values/decode-value.ts'
import { keysOf } from '../../core/known-keys.ts'
import type { Limits } from '../../core/limits.ts'
import type { GuestError } from '../../core/outcome.ts'
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { Truncatable } from '../../core/result.ts'
import type { Steps } from '../../core/steps.ts'
import type { GuestClaims } from '../../result/exit.ts'
import { Displayed } from '../displays/displayed.ts'
import { isRecord } from './read-message.ts'
import type { Message } from './read-message.ts'

export const textCharactersMax = 64 * 1024
/** Each entry costs the host about 100 bytes besides its text, so even empty ones are limited. */
const logsMax = 65_536
/** The most characters of a display's id. */
const idCharactersMax = 200
/** More MIME types than any real display has. */
const typesMax = 64

type Fields = Message['fields']

export class Claims {
  readonly truncated = new Set<Truncatable>()
  readonly #limits: Limits
  readonly #elapsed: () => number
  readonly #logs: LogEntry[] = []
  readonly displayed: Displayed
  #value: GuestClaims['value']
  #error: GuestClaims['error']
  #logBytesLeft: number

  constructor(limits: Limits, elapsed: () => number) {
    this.#limits = limits
    this.#elapsed = elapsed
    this.#logBytesLeft = limits.outputBytes
    this.displayed = new Displayed(limits.resultBytes)
  }

  get all(): GuestClaims {
    return {
      ...(this.#value === undefined ? {} : { value: this.#value }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
      logs: this.#logs,
      displays: this.displayed.bundles,
    }
  }

  /** Returns the part that is kept. */
  takeLog({ level, text }: Fields): LogEntry | undefined {
    if (!isLevel(level) || typeof text !== 'string') return undefined
    if (this.#logs.length >= logsMax || this.#logBytesLeft === 0) {
      this.truncated.add('logs')
      return undefined
    }
    const kept = cutToBytes(text.slice(0, textCharactersMax), this.#logBytesLeft)
    this.#logBytesLeft -= Buffer.byteLength(kept)
    if (kept.length < text.length) this.truncated.add('logs')
    if (kept.length === 0 && text.length > 0) return undefined
    // An empty text counts as one byte; otherwise it would be free.
    if (text.length === 0) this.#logBytesLeft -= 1
    const entry = { level, text: kept, atMs: this.#elapsed() }
    this.#logs.push(entry)
    return entry
  }

  *takeValue(message: Message): Steps<void> {
    const { value: tagged, text, truncated } = message.fields
    if (!message.fits('value', this.#limits.resultBytes)) {
      this.truncated.add('value')
      return
    }
    // Releases the previous value first, because two would take twice the memory.
    this.#value = undefined
    const decoded = yield* decodeSteps(tagged, message)
    if (truncated === true || decoded.truncated) this.truncated.add('value')
    this.#value = {
      tagged,
      live: decoded.value,
      text: typeof text === 'string' ? text.slice(0, textCharactersMax) : '',
    }
  }

  /** Returns the part that is kept. */
  takeDisplay(fields: Fields): { bundle: MimeBundle; facts: DisplayFacts } | undefined {
    const { bundle, truncated } = fields
    if (truncated === true) this.truncated.add('displays')
    if (!isRecord(bundle)) return undefined
    const entries = listTypes(bundle)
    const bytes = entries.reduce((sum, [type, text]) => sum + type.length + text.length, 1)
    const kept = { bundle: Object.fromEntries(entries), facts: readFacts(fields) }
    if (this.displayed.add(kept.bundle, bytes, kept.facts)) return kept
    this.truncated.add('displays')
    return undefined
  }

  takeError({ phase, error }: Fields): void {
    if ((phase !== 'syntax' && phase !== 'run') || !isRecord(error)) return
    this.#error = { phase, error: takeGuestError(error) }
  }
}

const levels: readonly string[] = ['debug', 'log', 'info', 'warn', 'error']

function isLevel(level: unknown): level is LogEntry['level'] {
  return typeof level === 'string' && levels.includes(level)
}

/** Truncates to this many bytes of UTF-8, between characters. */
function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  return new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytesMax))
}

/** An update without a valid id is treated as a new display. */
function readFacts({ id, update }: Fields): DisplayFacts {
  if (typeof id !== 'string' || id.length > idCharactersMax) return {}
  return update === true ? { displayId: id, isUpdate: true } : { displayId: id }
}

/** The entries whose content is a string. */
function listTypes(bundle: object): readonly (readonly [string, string])[] {
  const types = keysOf(bundle).slice(0, typesMax)
  return types.flatMap((type) => {
    const text: unknown = Reflect.get(bundle, type)
    return typeof text === 'string' ? [[type, text] as const] : []
  })
}

function takeGuestError(error: Record<string, unknown>): GuestError {
  const text = (key: string, charactersMax: number): string | undefined => {
    const value = error[key]
    return typeof value === 'string' ? value.slice(0, charactersMax) : undefined
  }
  const position = (key: string): number | undefined => {
    const value = error[key]
    return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
  }
  const [stack, line, column] = [text('stack', textCharactersMax), position('line'), position('column')]
  return {
    name: text('name', 256) ?? 'Error',
    message: text('message', textCharactersMax) ?? '',
    ...(stack === undefined ? {} : { stack }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }
}
