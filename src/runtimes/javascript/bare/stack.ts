/**
 * Stack traces that show only the guest's frames and positions. Guest code cannot replace the function that writes them:
 * engines pass it the frames as objects, and the frames of the harness would lead guest code to the harness.
 */
import { stringIncludes, stringSlice, stringStartsWith, uncurryThis } from '../../../core/primordials.ts'

const framesMax = 10
/** Frames that are captured in addition, because some are omitted. */
const otherFramesMax = 6
const anonymous = '<anonymous> ('
const nameAndMessage = uncurryThis(Error.prototype.toString)

export function lockStackTraces(
  programName: string,
  mapPositions: (text: string) => string,
  look?: (error: Error, frames: readonly unknown[]) => void,
): void {
  const write = (error: Error, frames: readonly unknown[]): string => {
    look?.(error, frames)
    let text = headerOf(error)
    for (let index = 0, shown = 0; index < frames.length && shown < framesMax; index++) {
      const frame = `${frames[index] as string}`
      if (!stringIncludes(frame, `${programName}:`)) continue
      text += `\n    at ${mapPositions(withoutAnonymous(frame))}`
      shown++
    }
    return text
  }
  Error.stackTraceLimit = framesMax + otherFramesMax
  // Setting it has no effect, as in engines that lack it.
  Object.defineProperty(Error, 'prepareStackTrace', { get: () => write, set() {}, configurable: false })
}

function headerOf(error: Error): string {
  try {
    return nameAndMessage(error)
  } catch {
    return 'Error'
  }
}

/** Bun writes `<anonymous> (place)` for code without a name. */
function withoutAnonymous(text: string): string {
  const isNamed = stringStartsWith(text, anonymous) && stringSlice(text, -1) === ')'
  return isNamed ? stringSlice(text, anonymous.length, -1) : text
}
