/**
 * Errors for modules that cannot be loaded. The engines report little: Bun throws a `BuildMessage` with the position in a
 * property, Node a `SyntaxError` with neither file nor position, and neither always names the import of the program that
 * failed.
 */
import type * as acorn from 'acorn'
import { stringIncludes, stringSlice, stringStartsWith } from '../../core/primordials.ts'
import { readProperty } from '../../core/values/read-value.ts'
import { requireAcorn } from './harness-packages.ts'
import type { Position } from './modules/positions.ts'

const getBuiltinModule = process.getBuiltinModule.bind(process)

/** Bun's own names for errors, and the names that the language has for them. */
const languageNames = [
  ['BuildMessage', 'SyntaxError'],
  ['ResolveMessage', 'Error'],
] as const

let lastLoaded: string | undefined
let failedImport: { readonly thrown: unknown; readonly position: Position } | undefined

/** Called in Node before a JavaScript file is compiled: a `SyntaxError` right after that may be about it. */
export function noteLoading(url: string): void {
  lastLoaded = url
}

export function noteFailedImport(thrown: unknown, position: Position): void {
  failedImport = { thrown, position }
}

/** The import of the program that failed with `thrown`. */
export const importPosition = (thrown: unknown): Position | undefined =>
  failedImport?.thrown === thrown ? failedImport?.position : undefined

export function languageName(name: string): string {
  for (let index = 0; index < languageNames.length; index++) {
    const pair = languageNames[index]
    if (pair?.[0] === name) return pair[1]
  }
  return name
}

/** The stack with the language's name for the error, and with the place in the broken file as its first frame. */
export function languageStack(
  stack: unknown,
  { engineName, message, place }: { engineName: string; message: string; place: string | undefined },
): unknown {
  const name = languageName(engineName)
  const text = typeof stack === 'string' ? stack : ''
  const isComplete = place === undefined || stringIncludes(text, `at ${place}`)
  if (name === engineName && isComplete) return stack
  const engineHeader = `${engineName}: ${message}`
  const frames = stringStartsWith(text, engineHeader) ? stringSlice(text, engineHeader.length) : ''
  return `${name}: ${message}${isComplete ? '' : `\n    at ${place}`}${frames}`
}

/** `file:line:column` in the file that does not compile; `undefined` if the error is about something else. */
export function brokenPlace(thrown: object, name: string): string | undefined {
  try {
    if (name === 'BuildMessage') return buildMessagePlace(thrown)
    return name === 'SyntaxError' && lastLoaded !== undefined ? parsedPlace(lastLoaded) : undefined
  } catch {
    return undefined
  }
}

function buildMessagePlace(thrown: object): string | undefined {
  const position = readProperty(thrown, 'position')
  if (typeof position !== 'object' || position === null) return undefined
  const [file, line, column] = [
    readProperty(position, 'file'),
    readProperty(position, 'line'),
    readProperty(position, 'column'),
  ]
  return typeof file === 'string' && typeof line === 'number' && typeof column === 'number'
    ? `${file}:${line}:${column}`
    : undefined
}

/** The error is about this file only if acorn refuses the file too. */
function parsedPlace(url: string): string | undefined {
  const { parse } = requireAcorn()
  const path = getBuiltinModule('node:url').fileURLToPath(url)
  const text = getBuiltinModule('node:fs').readFileSync(path, 'utf8')
  let place: acorn.Position | undefined
  for (const sourceType of ['script', 'module'] as const) {
    try {
      parse(text, {
        ecmaVersion: 'latest',
        sourceType,
        allowHashBang: true,
        allowReturnOutsideFunction: true,
      })
      return undefined
    } catch (thrown) {
      place = (thrown as { loc?: acorn.Position }).loc
    }
  }
  return place && `${path}:${place.line}:${place.column + 1}`
}
