/**
 * Reports errors of the guest's program: as data to the host, and as text on stderr for people. The thrown value may be
 * anything, and its getters may throw.
 */
import type { GuestError } from '../../core/outcome.ts'
import { messageOf, stringIndexOf, stringRepeat, stringSlice, utf8 } from '../../core/primordials.ts'
import { hasField, isError, readProperty, textOr } from '../../core/values/read-value.ts'
import { brokenPlace, importPosition, languageName, languageStack } from './broken-files.ts'
import { boundText, sendError } from './channel.ts'
import { inspectValue } from './console/inspect.ts'
import { writeAll } from './console/output.ts'
import { codeName, type Position } from './modules/positions.ts'
import { framesOf } from './modules/bare-stacks.ts'
import { ownStack, topPosition } from './modules/stack.ts'

const stderr = 2
// Longer lines are not shown: they are usually minified code.
const frameColumnsMax = 200

/** The code did not compile. Thrown by the compilers; `position` is in the code as written. */
export class CompileError {
  readonly name: string
  readonly message: string
  readonly position: Position | undefined
  constructor(name: string, message: string, position?: Position) {
    this.name = name
    this.message = message
    this.position = position
  }
}

/** Reports that the code did not compile. */
export function reportSyntaxError(code: string, { name, message, position }: CompileError): void {
  const place = position === undefined ? '' : `\n    at ${codeName}:${position.line}:${position.column}`
  const stack = `${name}: ${message}${place}`
  sendError('syntax', { name, message, stack, ...position })
  writeText(`${codeFrame(code, position)}${stack}\n`)
}

/** Reports what reached the top of the program. */
export function reportError(code: string, thrown: unknown): void {
  const error = describeError(thrown)
  const isAnError = typeof thrown === 'object' && thrown !== null && isError(thrown)
  reportGuestError(code, error, isAnError ? errorText(thrown, error) : `Uncaught ${inspectValue(thrown)}`)
}

/** Reports an error that is already described; `text` is for people. */
export function reportGuestError(code: string, error: GuestError, text: string): void {
  sendError('run', error)
  const { line, column } = error
  const position = line === undefined || column === undefined ? undefined : { line, column }
  writeText(`${codeFrame(code, position)}${text}\n`)
}

function describeError(thrown: unknown): GuestError {
  if (typeof thrown !== 'object' || thrown === null || !isError(thrown)) {
    return {
      name: 'Uncaught',
      message: boundText(typeof thrown === 'string' ? thrown : inspectValue(thrown)),
    }
  }
  const engineName = textOr(readProperty(thrown, 'name'), 'Error')
  const name = languageName(engineName)
  const message = textOr(readProperty(thrown, 'message'), '')
  const header = `${name}: ${message}`
  const stack = languageStack(stackOf(thrown, header), {
    engineName,
    message,
    place: brokenPlace(thrown, engineName),
  })
  if (typeof stack !== 'string') return { name, message, ...importPosition(thrown) }
  return { name, message, stack, ...(topPosition(stack, header) ?? importPosition(thrown)) }
}

function stackOf(thrown: Error, header: string): unknown {
  const frames = framesOf(thrown)
  if (frames !== undefined) return header + frames
  const stack = readProperty(thrown, 'stack')
  return typeof stack === 'string' ? ownStack(stack) : stack
}

/** The text for people. It includes causes and fields, unless the stack is that of a file that cannot be compiled. */
function errorText(thrown: Error, { name, message, stack }: GuestError): string {
  const header = `${name}: ${message}`
  const text = stack ?? header
  const isRewritten = stack !== undefined && stack !== stackOf(thrown, header)
  return isRewritten ? text : ownStack(inspectValue(thrown, text))
}

/** The line of the error with a mark below it, as Node shows it. */
function codeFrame(code: string, position: Position | undefined): string {
  if (position === undefined) return ''
  const line = lineAt(code, position.line)
  if (line === undefined || line.length > frameColumnsMax) return `${codeName}:${position.line}\n\n`
  const mark = position.column <= line.length + 1 ? `${stringRepeat(' ', position.column - 1)}^\n` : ''
  return `${codeName}:${position.line}\n${line}\n${mark}\n`
}

function lineAt(code: string, line: number): string | undefined {
  let start = 0
  for (let skipped = 1; skipped < line; skipped++) {
    const end = stringIndexOf(code, '\n', start)
    if (end === -1) return undefined
    start = end + 1
  }
  const end = stringIndexOf(code, '\n', start)
  return stringSlice(code, start, end === -1 ? code.length : end)
}

const writeText = (text: string): void => writeAll(stderr, utf8(boundText(text)))

/** For a stack overflow in a parser, which has no position. */
export const tooDeep = (): CompileError => new CompileError('SyntaxError', 'The code is nested too deeply.')

/** Converts an error of an engine or a parser. */
export function toCompileError(thrown: unknown): CompileError {
  if (typeof thrown === 'object' && thrown !== null && hasField(thrown, 'stack')) {
    const name = textOr(readProperty(thrown, 'name'), 'SyntaxError')
    // A stack overflow in the engine's parser.
    if (name === 'RangeError') return tooDeep()
    return new CompileError(name, messageOf(thrown))
  }
  return new CompileError('SyntaxError', messageOf(thrown))
}
