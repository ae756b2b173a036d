/**
 * Stacks that show the guest's own frames and places. The function that writes them cannot be replaced here: engines
 * give it the frames as objects, and through those of the harness guest code would get at the harness itself.
 */
import { stringIncludes, stringSlice, stringStartsWith, uncurryThis } from '../../../core/primordials.ts'

const framesMax = 10
/** Room for frames that are left out. */
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
  // Programs that set it find that it does nothing, as they do in engines that have no such thing.
  Object.defineProperty(Error, 'prepareStackTrace', { get: () => write, set() {}, configurable: false })
}

function headerOf(error: Error): string {
  try {
    return nameAndMessage(error)
  } catch {
    return 'Error'
  }
}

/** Bun's way to name code without a name. */
function withoutAnonymous(text: string): string {
  const isNamed = stringStartsWith(text, anonymous) && stringSlice(text, -1) === ')'
  return isNamed ? stringSlice(text, anonymous.length, -1) : text
}
