/** Paths that callers name, on their way into the cell. */
import { LazaretError } from '../../core/errors/errors.ts'

/** PATH_MAX without its NUL: the longest path of a system call. */
const pathBytesMax = 4095
const workspace = '/workspace'

/** The path for the file service, which works in /workspace. */
export function parseGuestPath(value: unknown, name = 'path'): string {
  const refuse = (detail: string) => new LazaretError('INVALID_REQUEST', { detail: `${name} ${detail}` })
  if (typeof value !== 'string') throw refuse('must be a string.')
  if (value === '') throw refuse('must not be empty.')
  if (value.includes('\0')) throw refuse('must not contain a NUL character.')
  if (!value.isWellFormed()) throw refuse('must be well-formed Unicode.')
  if (Buffer.byteLength(value) > pathBytesMax) throw refuse(`is longer than ${pathBytesMax} bytes.`)
  // Tasks start in the workspace, wherever it is on this machine.
  if (value !== workspace && !value.startsWith(`${workspace}/`)) return value
  return value.slice(workspace.length).replace(/^\/+/, '') || '.'
}
