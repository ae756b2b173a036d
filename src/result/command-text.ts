/** The result of a command as text for a language model: output, how it ended, and what to know about it. Pure. */
import type { LimitName } from '../core/limits.ts'
import { adviseOn, sayOutcome } from '../core/outcome.ts'
import type { Outcome } from '../core/outcome.ts'
import { charsOf } from './to-text.ts'
import type { ToTextOptions } from '../core/result.ts'
import { clipText } from './clip-text.ts'

/** What the text is made of. */
export interface CommandTextData {
  readonly outcome: Outcome
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly string[]
  readonly touched: readonly { readonly limit: LimitName; readonly allowed: number }[]
  readonly isolation: { readonly note?: string }
}

/** More than the labels, the gap marks and the sentences about the end take together. */
const wordsMax = 900
const roomLeast = 200
/** Of the room, if both streams are too long. What one does not need goes to the other. */
const stdoutShare = 0.7

/** Throws INVALID_REQUEST. */
export function commandText(result: CommandTextData, options: ToTextOptions = {}): string {
  const room = Math.max(charsOf(options) - wordsMax, roomLeast)
  const [stdout, stderr] = [result.stdout.trimEnd(), result.stderr.trimEnd()]
  const forStdout = Math.max(Math.floor(room * stdoutShare), room - stderr.length)
  const forStderr = Math.max(room - Math.floor(room * stdoutShare), room - stdout.length)
  const streams = [
    ['stdout', clipText(stdout, forStdout).text],
    ['stderr', clipText(stderr, forStderr).text],
  ] as const
  const parts = [
    ...streams.map(([name, text]) =>
      text === '' ? '' : `${name}:${text.includes('\n') ? '\n' : ' '}${text}`,
    ),
    describeEnd(result),
    result.isolation.note ?? '',
  ].filter((part) => part !== '')
  // Some model APIs refuse an empty text.
  return parts.length === 0 ? 'The command succeeded and printed nothing.' : parts.join('\n\n')
}

/** Empty if it succeeded without reaching a limit. */
function describeEnd({ outcome, truncated, touched }: CommandTextData): string {
  const hasSucceeded = outcome.kind === 'completed' && outcome.exitCode === 0
  const reached = touched.filter(({ limit }) => limit !== 'outputBytes')
  return [
    ...(hasSucceeded ? [] : [`The command ${sayOutcome(outcome)}.`, adviseOn(outcome) ?? '']),
    ...reached.map(({ limit, allowed }) => `It reached a limit: ${limit} (${allowed}).`),
    ...(truncated.length === 0 ? [] : [`Incomplete: ${truncated.join(', ')}. Print less to see all of it.`]),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

/** The data become own properties, so that results can be spread, compared and sent. */
export function withText<Data extends CommandTextData>(data: Data): Data & { toText: ToText } {
  return Object.assign(new WithText(data), data)
}

type ToText = (options?: ToTextOptions) => string

class WithText {
  readonly #data: CommandTextData

  constructor(data: CommandTextData) {
    this.#data = data
  }

  toText(options?: ToTextOptions): string {
    return commandText(this.#data, options)
  }
}
