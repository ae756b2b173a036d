/** What a model gets from a run: the result as data, again as a compact text, and its pictures. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { LazaretError } from '../../core/errors/errors.ts'
import { type GuestError, type Outcome, sayOutcome } from '../../core/outcome.ts'
import type { ResultImage, RunResult } from '../../core/result.ts'
import type { Finding, Validation } from '../../core/validation.ts'
import { clipEnd, clipText } from '../../result/clip-text.ts'
import { isPrinted } from '../../result/is-printed.ts'
import { toPlainJson } from '../actor/plain-json.ts'
import { fitsJson } from './fits-json.ts'
import type { Execution, ExecutionError } from './tool-schemas.ts'

/** Characters of each stream and of the value as data: some clients pass all data to their model. */
const dataLengthMax = 40_000
/** Characters of the text: some 8,000 tokens. */
const textLengthMax = 30_000
const messageLengthMax = 4000
/** As many as fit into a message of a few megabytes; clients refuse larger ones. */
const picturesMax = 8
const pictureLengthMax = 4 * 1024 * 1024

export function describeResult(result: RunResult, validation?: Validation): CallToolResult {
  const { outcome } = result
  const clipped = new Set<string>(result.truncated)
  const clip = (name: 'stdout' | 'stderr'): string => {
    const { text, isClipped } = clipText(result[name], dataLengthMax)
    if (isClipped) clipped.add(name)
    return text
  }
  const [stdout, stderr] = [clip('stdout'), clip('stderr')]
  const images = fitImages(result.images, clipped)
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
    ...describeFindings(validation),
  }
  return {
    content: [
      { type: 'text', text: result.toText({ charsMax: textLengthMax }) + sayFindings(validation) },
      ...images.map((image) => ({ type: 'image' as const, ...image })),
    ],
    structuredContent: { ...data },
    ...(error !== undefined && { isError: true }),
  }
}

/** A refusal or a fault of Lazaret: nothing has run, or it is unknown how the run ended. */
export function describeError(error: LazaretError): CallToolResult {
  const { kind, code, message, hint, retryAfterMs, findings = [] } = error
  const data: Execution = {
    outcome: kind === 'refusal' ? 'refused' : 'fault',
    stdout: '',
    stderr: '',
    error: { name: code, message, hint, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    durationMs: 0,
    truncated: [],
    ...describeFindings({ riskLevel: 'high', findings }),
  }
  const again = retryAfterMs === undefined ? '' : ` Try again in ${Math.ceil(retryAfterMs / 1000)} s.`
  const text = `${data.outcome}: ${code}: ${message}${again}\n${hint}`
  return { content: [{ type: 'text', text }], structuredContent: { ...data }, isError: true }
}

/** The findings in a program that was validated and not run. */
export function describeValidation({ isSafe, riskLevel, findings }: Validation): CallToolResult {
  const lines = [riskLevel, ...findings.slice(0, findingsInText).map(sayFinding)]
  if (findings.length > findingsInText) lines.push(`${findings.length - findingsInText} more.`)
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { isSafe, riskLevel, findings: [...findings] },
  }
}

const findingsInText = 10

/** Returns no field if there are no findings. */
function describeFindings(
  validation: Pick<Validation, 'riskLevel' | 'findings'> | undefined,
): Pick<Execution, 'validation'> {
  if (validation === undefined || validation.riskLevel === 'safe' || validation.findings.length === 0)
    return {}
  return { validation: { riskLevel: validation.riskLevel, findings: [...validation.findings] } }
}

function sayFindings({ findings }: Pick<Validation, 'findings'> = { findings: [] }): string {
  if (findings.length === 0) return ''
  return `\n\nWorth a look:\n${findings.slice(0, findingsInText).map(sayFinding).join('\n')}`
}

function sayFinding({ rule, message, line }: Finding): string {
  return `line ${line}, ${rule}: ${message}`
}

/** The value as plain JSON; left out if it is too long. */
function plainValue(result: RunResult, clipped: Set<string>): unknown {
  if (result.valueTagged === undefined) return undefined
  const value = toPlainJson(result.valueTagged)
  if (value === undefined || fitsJson(value, dataLengthMax)) return value
  clipped.add('value')
  return undefined
}

/** `undefined` if the program succeeded. */
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
    // Most runtimes print it themselves, and once is enough.
    ...(stack !== '' &&
      !isPrinted(stack.trim(), stderr) && { stack: clipText(stack, messageLengthMax).text }),
  }
}

/** The first ones that fit into one message. */
function fitImages(images: readonly ResultImage[], clipped: Set<string>): ResultImage[] {
  const fitting: ResultImage[] = []
  let length = 0
  for (const image of images) {
    if (fitting.length < picturesMax && length + image.data.length <= pictureLengthMax) {
      fitting.push(image)
      length += image.data.length
    } else clipped.add('displays')
  }
  return fitting
}
