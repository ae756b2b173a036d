/**
 * Checks a request of the snippet tool. Handwritten, because a library takes longer to load than a snippet takes to
 * run.
 */
import { inputBytesMax } from '../../runtimes/snippet/thread-protocol.ts'
import type { SnippetRequest } from './snippet-types.ts'

const KiB = 1024
const sourceBytesMax = 1024 * KiB

/** The ceilings are part of the tool's contract. */
export const snippetLimits = {
  wall_ms: { usual: 1000, max: 60_000 },
  output_kb: { usual: 64, max: 16_384 },
} as const

/** With all defaults filled in. */
export interface ParsedSnippet extends Required<Omit<SnippetRequest, 'limits'>> {
  readonly wallMs: number
  readonly outputKib: number
}

/** The request is wrong; the message begins with the field's name. */
export class InvalidSnippet extends Error {
  override readonly name = 'InvalidSnippet'
}

/** Unknown fields are ignored. Throws an `InvalidSnippet`. */
export function parseSnippet(request: unknown): ParsedSnippet {
  if (!isRecord(request)) throw new InvalidSnippet('The request must be a JSON object with the field source.')
  const { source, input = '', limits = {}, clock = 'fixed', randomness = 'fixed' } = request
  if (!isRecord(limits)) throw new InvalidSnippet('limits: must be an object.')
  const parsed = {
    source: text('source', source, sourceBytesMax),
    input: text('input', input, inputBytesMax),
    clock: fixedOrReal('clock', clock),
    randomness: fixedOrReal('randomness', randomness),
    wallMs: count('wall_ms', limits),
    outputKib: count('output_kb', limits),
  }
  if (parsed.source === '') throw new InvalidSnippet('source: must not be empty.')
  return parsed
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(field: string, value: unknown, bytesMax: number): string {
  if (typeof value !== 'string') throw new InvalidSnippet(`${field}: must be a string.`)
  const bytes = Buffer.byteLength(value)
  if (bytes > bytesMax) throw new InvalidSnippet(`${field}: has ${bytes} bytes, and may have ${bytesMax}.`)
  return value
}

function fixedOrReal(field: string, value: unknown): 'fixed' | 'real' {
  if (value === 'fixed' || value === 'real') return value
  throw new InvalidSnippet(`${field}: must be "fixed" or "real".`)
}

function count(field: keyof typeof snippetLimits, limits: Readonly<Record<string, unknown>>): number {
  const { usual, max } = snippetLimits[field]
  const { [field]: value = usual } = limits
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value
  throw new InvalidSnippet(`limits.${field}: must be a whole number from 1 to ${max}.`)
}
