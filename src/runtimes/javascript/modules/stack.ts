/**
 * Stack traces with positions in the code as written. Engines call `Error.prepareStackTrace` when a stack is first read, so
 * guest code that prints `error.stack` sees the same positions as the host. Frames of the harness and the engine are
 * omitted.
 */
import { harnessPath } from '../harness-path.ts'
import {
  apply,
  defineProperty,
  stringCodeAt,
  stringIncludes,
  stringIndexOf,
  stringSlice,
  stringStartsWith,
  uncurryThis,
} from '../../../core/primordials.ts'
import { tellExceptions } from './bare-stacks.ts'
import { compiledFile } from './compiled-files.ts'
import { codeName, findPosition, type MapPosition, programName } from './positions.ts'

type CallSite = NodeJS.CallSite

// dist/runtimes/javascript/modules/stack.js → dist
const harnessFolder = harnessPath.slice(0, harnessPath.lastIndexOf('/runtimes/javascript/'))
// The default of both engines.
const framesMax = 10
// Frames of the harness that are captured in addition and then omitted.
const harnessFramesMax = 6

const anonymous = '<anonymous> ('
const nameAndMessage = uncurryThis(Error.prototype.toString)

let toWritten: MapPosition = (position) => position

/** From now on, stacks show positions as `map` returns them. */
export function installStackTraces(map: MapPosition): void {
  toWritten = map
  Error.stackTraceLimit = framesMax + harnessFramesMax
  if (process.versions['bun'] !== undefined) {
    // Bun ignores an accessor.
    Error.prepareStackTrace = prepare
    return tellExceptions({ mapPositions, isHarness })
  }
  let current: Prepare = prepare
  defineProperty(Error, 'prepareStackTrace', {
    __proto__: null,
    // The engine reads it too.
    get: () => current,
    set(value: unknown) {
      current = typeof value === 'function' ? withoutHarness(value as Prepare) : prepare
    },
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor)
}

type Prepare = (error: Error, frames: CallSite[]) => unknown

function prepare(error: Error, frames: readonly CallSite[]): string {
  let text = headerOf(error)
  for (let index = 0, shown = 0; index < frames.length && shown < framesMax; index++) {
    const frame = frameText(frames[index])
    if (frame === undefined) continue
    text += `\n    at ${frame}`
    shown++
  }
  return text
}

/** The functions that guest code has set, as the engine calls them. */
const wrappers = new WeakSet<Prepare>()
const addWrapper = uncurryThis(WeakSet.prototype.add)
const isWrapper = uncurryThis(WeakSet.prototype.has)

/** A function of the guest gets the frames that are not the harness's. */
function withoutHarness(guest: Prepare): Prepare {
  if (guest === prepare || isWrapper(wrappers, guest)) return guest
  const wrapper: Prepare = (error, frames) => {
    const shown: CallSite[] = []
    for (let index = 0; index < frames.length && shown.length < framesMax; index++) {
      const frame = frames[index] as CallSite
      if (frameText(frame) !== undefined) shown[shown.length] = frame
    }
    return apply(guest, Error, [error, shown])
  }
  addWrapper(wrappers, wrapper)
  return wrapper
}

const isHarness = (place: string): boolean => stringIncludes(place, harnessFolder)

/** Replaces each `<code>:line:column` in `text` with the position in the code as written. */
export function mapPositions(text: string): string {
  let mapped = ''
  let from = 0
  for (let found = findPosition(text, 0); found !== undefined; found = findPosition(text, from)) {
    const { entry } = found
    const { line, column } = toWritten(found.position, entry)
    const name = entry === undefined ? programName : `<code ${entry}>`
    mapped += `${stringSlice(text, from, found.start)}${name}:${line}:${column}`
    from = found.end
  }
  return mapped + stringSlice(text, from)
}

/** The stack of an error of another realm, which the engine wrote itself, as other stacks show it. */
export function ownStack(stack: string): string {
  return isHarness(stack) ? mapPositions(withoutHarnessFrames(stack)) : stack
}

/** Omits the frames of the harness, which errors of other realms (`node:vm`) have, and `stack` of some in Bun. */
export function withoutHarnessFrames(text: string): string {
  if (!isHarness(text)) return text
  let shown = ''
  for (let from = 0; from < text.length;) {
    const newline = stringIndexOf(text, '\n', from)
    const end = newline === -1 ? text.length : newline
    const line = stringSlice(text, from, end)
    const rest = isHarness(line) ? afterFrame(line) : undefined
    shown += rest ?? `${from === 0 ? '' : '\n'}${line}`
    from = end + 1
  }
  return shown
}

/** What follows a frame in its line, such as the fields of the error. `undefined` if the line is no frame. */
function afterFrame(line: string): string | undefined {
  const isFrame = stringIncludes(line, '    at ') || stringIncludes(line, `@${harnessFolder}`)
  if (!isFrame) return undefined
  let end = line.length
  while (end > 0 && !isDigit(stringCodeAt(line, end - 1))) end--
  return stringSlice(line, stringCodeAt(line, end) === closingParenthesis ? end + 1 : end)
}

const closingParenthesis = 0x29
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** The first line of the stack, as the engines write it. They ignore a `toString` of the error's own. */
function headerOf(error: Error): string {
  try {
    return nameAndMessage(error)
  } catch {
    return 'Error'
  }
}

/** `undefined` for frames of the harness and the engine. */
function frameText(frame: unknown): string | undefined {
  const text = `${frame as string}`
  const isOurs = isHarness(text) || stringStartsWith(text, 'runInThisContext (') || text === 'eval (native)'
  const isEngine =
    // The constructor that Bun makes for a class without one.
    stringIncludes(text, '([source:') ||
    stringIncludes(text, 'node:internal/') ||
    stringIncludes(text, '(node:inspector:') ||
    stringIncludes(text, '(node:vm:') ||
    stringIncludes(text, '(node:diagnostics_channel:')
  // Bun writes `native` for an engine's function without a name.
  if (isOurs || isEngine || text === 'native') return undefined
  return mapFile(mapPositions(withoutAnonymous(text)), frame as CallSite)
}

/** Bun writes `<anonymous> (place)` for code without a name; Node writes only the place. */
function withoutAnonymous(text: string): string {
  const isNamed = stringStartsWith(text, anonymous) && stringSlice(text, -1) === ')'
  return isNamed ? stringSlice(text, anonymous.length, -1) : text
}

/** Maps a position in a compiled file to the file as written, and shows a module's URL as a path. */
function mapFile(text: string, frame: CallSite): string {
  const name: unknown = frame.getScriptNameOrSourceURL()
  if (typeof name !== 'string') return text
  const file = compiledFile(name)
  const path = file?.path ?? (stringStartsWith(name, 'file:///') ? stringSlice(name, 'file://'.length) : name)
  const line = frame.getLineNumber()
  const column = frame.getColumnNumber()
  if (path === name && file === undefined) return text
  const place = `${name}:${line}:${column}`
  const start = stringIndexOf(text, place)
  if (start === -1 || line === null || column === null) return text
  const written = file?.toWritten({ line, column }) ?? { line, column }
  const end = stringSlice(text, start + place.length)
  return `${stringSlice(text, 0, start)}${path}:${written.line}:${written.column}${end}`
}

/** The first position in the code that runs now, in a stack after its header. */
export function topPosition(stack: string, header: string): { line: number; column: number } | undefined {
  const from = stringStartsWith(stack, header) ? header.length : stringIndexOf(stack, '\n    at ')
  for (let at = from < 0 ? 0 : from; ;) {
    const found = findPosition(stack, at)
    if (found === undefined) return undefined
    if (found.entry === undefined || `<code ${found.entry}>` === codeName) return found.position
    at = found.end
  }
}
