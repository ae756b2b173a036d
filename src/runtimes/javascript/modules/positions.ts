/** Positions in the guest's code, and functions that map positions in compiled code to the code as written. */
import { stringCodeAt, stringIndexOf } from '../../../core/primordials.ts'

/** Line and column, both counted from 1. Columns count UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** `entry` is the number of the entry, in a code context. */
export type MapPosition = (position: Position, entry?: number) => Position

/** The name of the guest's program in stack traces. */
export const programName = '<code>'
/** The name of the code that runs now. In a code context it contains the entry's number. */
export let codeName = programName
export function setCodeName(name: string): void {
  codeName = name
}
/** The prefix of all such names. */
const nameStart = '<code'
/** The file name that engines get for the program. They resolve its imports relative to this path. */
export let programPath = `${process.cwd()}/${programName}`
export function setProgramFolder(folder: string): void {
  programPath = `${folder === '/' ? '' : folder}/${programName}`
}
/**
 * Makes a script strict. Without the second statement, the directive would be the value of a program that has none. It is
 * on the guest's first line, so lines keep their numbers.
 */
export const strictPrefix = '"use strict";void 0;'

export function skipOnFirstLine(length: number): MapPosition {
  return ({ line, column }) =>
    line === 1 && column > length ? { line, column: column - length } : { line, column }
}

/** The position of the UTF-16 unit at `offset`. */
export function positionAt(text: string, offset: number): Position {
  let line = 1
  let start = 0
  for (
    let end = stringIndexOf(text, '\n', 0);
    end !== -1 && end < offset;
    end = stringIndexOf(text, '\n', start)
  ) {
    line++
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}

export interface FoundPosition {
  readonly position: Position
  /** The entry's number, if the name contains one. */
  readonly entry?: number
  readonly start: number
  readonly end: number
}

/** The name of an entry for V8, because a `sourceURL` cannot contain a space. Stacks show `<code 1>`. */
export const entryUrl = (entry: number): string => `<code-${entry}>`

/** The first `<code>:line:column`, or `<code 1>:line:column`, in `text` from `from` on. */
export function findPosition(text: string, from: number): FoundPosition | undefined {
  for (let start = stringIndexOf(text, nameStart, from); start !== -1;) {
    const numberAt = start + nameStart.length
    const entry = readNumber(text, numberAt, 0x20) ?? readNumber(text, numberAt, 0x2d)
    const nameEnd = entry?.end ?? start + nameStart.length
    const line = stringCodeAt(text, nameEnd) === 0x3e ? readNumber(text, nameEnd + 1) : undefined
    const column = line === undefined ? undefined : readNumber(text, line.end)
    if (line !== undefined && column !== undefined) {
      const position = { line: line.value, column: column.value }
      if (entry !== undefined) return { position, entry: entry.value, start, end: column.end }
      return { position, start: startOfPath(text, start), end: column.end }
    }
    start = stringIndexOf(text, nameStart, start + 1)
  }
  return undefined
}

/** Where the program's path begins, if its last part is at `at`. Otherwise `at`. */
function startOfPath(text: string, at: number): number {
  const start = at + programName.length - programPath.length
  return start >= 0 && stringIndexOf(text, programPath, start) === start ? start : at
}

/** Reads `:digits` at `index`. The sign before the digits may be another one. */
function readNumber(text: string, index: number, sign = 0x3a): { value: number; end: number } | undefined {
  if (stringCodeAt(text, index) !== sign) return undefined
  let end = index + 1
  let value = 0
  for (; end < text.length; end++) {
    const digit = stringCodeAt(text, end) - 0x30
    if (!(digit >= 0 && digit <= 9) || value > 1e9) break
    value = value * 10 + digit
  }
  return end === index + 1 ? undefined : { value, end }
}
