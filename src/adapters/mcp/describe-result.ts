/** What a model gets of a run: the result as data, the same as a compact text, and its pictures. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { LazaretError } from '../../core/errors.ts'
import { type GuestError, type Outcome, sayOutcome } from '../../core/outcome.ts'
import type { MimeBundle, RunResult } from '../../core/result.ts'
import { toPlainJson } from '../actor/plain-json.ts'
import { clipEnd, clipText } from './clip-text.ts'
import { findPicture, type Picture } from './pictures.ts'
import type { Execution, ExecutionError } from './tool-schemas.ts'

/** Characters of each stream and of the value as data: some clients hand all of it to their model. */
const dataLengthMax = 40_000
/** Characters of each part of the text: 8,000 tokens when all of them are full. */
const textLengthMax = { stdout: 14_000, stderr: 6000, value: 6000, display: 4000 } as const
const messageLengthMax = 4000
/** What a message of a few megabytes holds; clients refuse larger ones. */
const picturesMax = 8
const pictureLengthMax = 4 * 1024 * 1024

export function describeResult(result: RunResult): CallToolResult {
  const { outcome } = result
  const clipped = new Set<string>(result.truncated)
  const clip = (name: 'stdout' | 'stderr'): string => {
    const { text, isClipped } = clipText(result[name], dataLengthMax)
    if (isClipped) clipped.add(name)
    return text
  }
  const [stdout, stderr] = [clip('stdout'), clip('stderr')]
  const { pictures, texts } = sortDisplays(result.displays, clipped)
  const value = plainValue(result, clipped)
  const error = describeFailure(outcome, result.stderr)
  const data: Execution = {
    outcome: outcome.kind,
    stdout,
    stderr,
    ...(value !== undefined && { value }),
    ...(error !== undefined && { error }),
    durationMs: Math.round(result.usage.wallMs),
    truncated: [...clipped],
  }
  return {
    content: [
      { type: 'text', text: writeText(result, { texts, error, truncated: data.truncated }) },
      ...pictures.map((picture) => ({ type: 'image' as const, ...picture })),
    ],
    structuredContent: { ...data },
    ...(error !== undefined && { isError: true }),
  }
}

/** A refusal or a fault of ours: nothing has run, or nobody knows how it ended. */
export function describeError(error: LazaretError): CallToolResult {
  const { kind, code, message, hint, retryAfterMs } = error
  const data: Execution = {
    outcome: kind === 'refusal' ? 'refused' : 'fault',
    stdout: '',
    stderr: '',
    error: { name: code, message, hint, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    durationMs: 0,
    truncated: [],
  }
  const again = retryAfterMs === undefined ? '' : ` Try again in ${Math.ceil(retryAfterMs / 1000)} s.`
  const text = `${data.outcome}: ${code}: ${message}${again}\n${hint}`
  return { content: [{ type: 'text', text }], structuredContent: { ...data }, isError: true }
}

/** As plain JSON; left out where it is too long to be handed on. */
function plainValue(result: RunResult, clipped: Set<string>): unknown {
  if (result.valueTagged === undefined) return undefined
  const value = toPlainJson(result.valueTagged)
  if (value === undefined || JSON.stringify(value).length <= dataLengthMax) return value
  clipped.add('value')
  return undefined
}

/** `undefined` when the program did what it should. */
function describeFailure(outcome: Outcome, stderr: string): ExecutionError | undefined {
  if (outcome.kind === 'completed' && outcome.exitCode === 0) return undefined
  if (outcome.kind === 'failed' || outcome.kind === 'syntax-error')
    return describeGuestError(outcome.error, stderr)
  return { name: outcome.kind, message: `The program ${sayOutcome(outcome)}.` }
}

function describeGuestError(
  { name, message, line, column, stack = '' }: GuestError,
  stderr: string,
): ExecutionError {
  return {
    name: clipEnd(name, messageLengthMax),
    message: clipEnd(message, messageLengthMax),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    // Most runtimes print it, and one time is enough.
    ...(stack !== '' && !stderr.includes(stack.trim()) && { stack: clipText(stack, messageLengthMax).text }),
  }
}

interface Displays {
  readonly pictures: readonly Picture[]
  readonly texts: readonly string[]
}

const readableTypes = ['text/markdown', 'text/plain', 'application/json', 'text/html'] as const

function sortDisplays(displays: readonly MimeBundle[], clipped: Set<string>): Displays {
  const pictures: Picture[] = []
  const texts: string[] = []
  let pictureLength = 0
  for (const bundle of displays) {
    const picture = findPicture(bundle)
    if (picture === undefined) {
      const type = readableTypes.find((name) => Object.hasOwn(bundle, name))
      texts.push(type === undefined ? `[${Object.keys(bundle).join(', ')}]` : (bundle[type] ?? ''))
    } else if (pictures.length < picturesMax && pictureLength + picture.data.length <= pictureLengthMax) {
      pictures.push(picture)
      pictureLength += picture.data.length
    } else clipped.add('displays')
  }
  return { pictures, texts }
}

interface TextParts {
  readonly texts: readonly string[]
  readonly error: ExecutionError | undefined
  readonly truncated: readonly string[]
}

function writeText(result: RunResult, { texts, error, truncated }: TextParts): string {
  const parts = [
    ...section('stdout', result.stdout),
    ...section('stderr', result.stderr),
    ...section('value', result.valueText ?? ''),
    ...section('display', texts.join('\n')),
  ]
  if (error !== undefined) parts.push(`${result.outcome.kind}: ${sayError(error)}`)
  if (parts.length === 0 && result.displays.length === 0)
    parts.push('The program ended well and printed nothing.')
  if (truncated.length > 0) parts.push(`Not complete: ${truncated.join(', ')}. Print less to see all of it.`)
  return parts.join('\n\n')
}

function section(name: keyof typeof textLengthMax, text: string): string[] {
  if (text.trim() === '') return []
  const clipped = clipText(text.trimEnd(), textLengthMax[name]).text
  return [`${name}:${clipped.includes('\n') ? '\n' : ' '}${clipped}`]
}

function sayError({ name, message, line, stack }: ExecutionError): string {
  // The name of an outcome that is no error of the language says nothing that the message does not.
  if (line === undefined && stack === undefined && /^[a-z-]+$/.test(name)) return message
  const said = message === '' ? name : `${name}: ${message}`
  return line === undefined ? said : `${said} (line ${line})`
}
