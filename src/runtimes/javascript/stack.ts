/**
 * Stack traces in the guest's own lines: engines call `Error.prepareStackTrace` when a stack is first read, so guest
 * code that prints `error.stack` sees the same places as the host does. Our own frames and the engine's are left out.
 */
import { harnessPath } from './harness-path.ts'
import { stringIncludes, stringIndexOf, stringSlice, stringStartsWith } from '../../core/primordials.ts'
import { findPosition, type MapPosition, programName } from './positions.ts'

// dist/runtimes/javascript/stack.js → dist
const harnessFolder = harnessPath.slice(0, harnessPath.lastIndexOf('/runtimes/javascript/'))
// The default of both engines.
const framesMax = 10
// Room for our own frames below the guest's, which are captured first and then left out.
const harnessFramesMax = 6

let toWritten: MapPosition = (position) => position

/** From now on stacks show places through `map`. */
export function installStackTraces(map: MapPosition): void {
  toWritten = map
  Error.stackTraceLimit = framesMax + harnessFramesMax
  Error.prepareStackTrace = (error, frames) => {
    let text = headerOf(error)
    for (let index = 0, shown = 0; index < frames.length && shown < framesMax; index++) {
      const frame = frameText(frames[index])
      if (frame === undefined) continue
      text += `\n    at ${frame}`
      shown++
    }
    return text
  }
}

/** `text` with every `<code>:line:column` in it as the guest wrote it. */
export function mapPositions(text: string): string {
  let mapped = ''
  let from = 0
  for (let found = findPosition(text, 0); found !== undefined; found = findPosition(text, from)) {
    const { line, column } = toWritten(found.position)
    mapped += `${stringSlice(text, from, found.start)}<code>:${line}:${column}`
    from = found.end
  }
  return mapped + stringSlice(text, from)
}

function headerOf(error: unknown): string {
  try {
    return `${error as string}`
  } catch {
    return 'Error'
  }
}

/** `undefined` for frames that are not the guest's business. */
function frameText(frame: unknown): string | undefined {
  const text = `${frame as string}`
  const isOurs =
    stringIncludes(text, harnessFolder) ||
    stringStartsWith(text, 'runInThisContext (') ||
    text === 'eval (native)'
  const isEngine =
    stringIncludes(text, 'node:internal/') ||
    stringIncludes(text, '(node:vm:') ||
    stringIncludes(text, '(node:diagnostics_channel:')
  if (isOurs || isEngine) return undefined
  // Bun's way to name code without a name; Node gives the place alone.
  const place = stringStartsWith(text, unnamedStart)
    ? programName + stringSlice(text, unnamedStart.length - 1, -1)
    : text
  return mapPositions(place)
}

const unnamedStart = `<anonymous> (${programName}:`

/** Where a stack first mentions the guest's code, after its header. */
export function topPosition(stack: string, header: string): { line: number; column: number } | undefined {
  const from = stringStartsWith(stack, header) ? header.length : stringIndexOf(stack, '\n    at ')
  return findPosition(stack, from < 0 ? 0 : from)?.position
}
