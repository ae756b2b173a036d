/** Checks of callers' options besides paths, before anything is started. */
import { LazaretError } from '../../core/errors/errors.ts'
import { plainBytes } from '../../policy/hostile-input.ts'

export type FileEncoding = 'utf8' | 'base64' | 'bytes'

const encodings: readonly unknown[] = ['utf8', 'base64', 'bytes']

function invalid(detail: string): LazaretError {
  return new LazaretError('INVALID_REQUEST', { detail })
}

export function parseEncoding(value: unknown): FileEncoding {
  if (value === undefined) return 'utf8'
  if (!encodings.includes(value)) throw invalid(`encoding must be one of ${encodings.join(', ')}.`)
  return value as FileEncoding
}

/** The form that the file service expects. */
export function parseFlag(value: unknown, name: string): '0' | '1' {
  if (value !== undefined && typeof value !== 'boolean') throw invalid(`${name} must be true or false.`)
  return value === true ? '1' : '0'
}

export interface Bound {
  readonly usual: number
  readonly most: number
}

export function parseBound(value: unknown, name: string, { usual, most }: Bound): number {
  if (value === undefined) return usual
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw invalid(`${name} must be a whole number from 0 to ${most}.`)
  return value
}

export function parseContent(value: unknown): Uint8Array {
  if (typeof value === 'string') return Buffer.from(value)
  const bytes = plainBytes(value)
  if (bytes !== undefined) return bytes
  throw invalid('content must be a string or a Uint8Array.')
}
