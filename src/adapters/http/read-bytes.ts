/** Bytes in a request: a string stands for itself, anything else is `{ "base64": … }`. */
import { LazaretError } from '../../core/errors/errors.ts'

/** Throws INVALID_REQUEST. */
export function readBytes(value: unknown, field: string): string | Uint8Array {
  if (typeof value === 'string') return value
  const { base64, ...others } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  const bytes = typeof base64 === 'string' && Object.keys(others).length === 0 ? decode(base64) : undefined
  if (bytes !== undefined) return bytes
  throw new LazaretError('INVALID_REQUEST', { detail: `${field}: must be a string or { "base64": … }.` })
}

/** Each value of an object. */
export function readFiles(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([path, content]) => [
      path,
      readBytes(content, `${field}[${JSON.stringify(path.slice(0, 100))}]`),
    ]),
  )
}

/** Undefined for invalid base64: invalid characters make the result shorter. */
function decode(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return undefined
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='))
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : undefined
}
