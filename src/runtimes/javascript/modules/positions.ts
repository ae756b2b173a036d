/** Where something is in the guest's code, and how a place in compiled code becomes a place in the code as written. */
import { stringCodeAt, stringIndexOf } from '../../../core/primordials.ts'

/** Line and column, both counted from 1, columns in UTF-16 units. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** `entry` is the number of the piece of code, in a context. */
export type MapPosition = (position: Position, entry?: number) => Position

/** The name of the guest's program in stack traces. */
export const programName = '<code>'
/** The same of the code that runs now: in a context each piece has a number. */
export let codeName = programName
export function setCodeName(name: string): void {
  codeName = name
}
/** What every name begins with. */
const nameStart = '<code'
/** The positions for the engines: they resolve imports from where the program seems to lie. */
export const programPath = `${process.cwd()}/${programName}`
/**
 * Makes a script strict; the second statement keeps the first from being the value of a program that has none. On the
 * guest's first line, so that lines keep their numbers.
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
  /** The number in the name, if it has one. */
  readonly entry?: number
  readonly start: number
  readonly end: number
}

/** The description of a context's piece of code for V8; a `sourceURL` holds no space. Stacks show `<code 1>`. */
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

/** Where the path begins whose last part, the program's name, stands at `nameStart`. */
function startOfPath(text: string, at: number): number {
  const start = at + programName.length - programPath.length
  return start >= 0 && stringIndexOf(text, programPath, start) === start ? start : at
}

/** Reads `:digits` at `index`, or digits after another sign. */
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
