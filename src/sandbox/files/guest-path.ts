/** Paths that callers name, on their way into the cell, and paths of guests on their way into a message. */
import { LazaretError } from '../../core/errors/errors.ts'

/** PATH_MAX without its NUL: the longest path of a system call. */
const pathBytesMax = 4095
const shownCharactersMax = 200
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

// Controls, changes of writing direction, separators, and halves of characters.
const misleading = /[\p{C}\p{Zl}\p{Zp}]/gu

/** The path as it is, or in quotes if it could look like several lines, or like other text. */
export function showPath(path: string): string {
  return path.search(misleading) === -1 ? path : describePath(path)
}

/** The path in quotes, on one line and bounded, because guests can choose misleading names. */
export function describePath(path: string): string {
  const isLong = path.length > shownCharactersMax
  const shown = JSON.stringify(isLong ? path.slice(0, shownCharactersMax) : path)
  const plain = shown.replace(misleading, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
  return isLong ? `${plain}…` : plain
}
