/**
 * The guest's console. Every call becomes one log message and the same text on stdout or stderr, written before the
 * call returns. Texts are Node's in every runtime.
 */
import { stringCodeAt, stringIncludes, stringSlice, uncurryThis } from '../../core/primordials.ts'
import { utf8 } from '../../core/primordials.ts'
import type { LogEntry } from '../../core/result.ts'
import { sendLog } from './channel.ts'
import { formatAll, inspectWith } from './inspect.ts'
import { writeAll } from './output.ts'
import { formatDuration, tableText } from './console-texts.ts'

const stdout = 1
const stderr = 2
const indentWidth = 2
const newline = 10

const now = performance.now.bind(performance)
const captureStackTrace = Error.captureStackTrace.bind(Error)
const CountMap = Map<string, number>
const getCount = uncurryThis(CountMap.prototype.get)
const setCount = uncurryThis(CountMap.prototype.set)
const deleteCount = uncurryThis(CountMap.prototype.delete)

/** Replaces every method of the global console; what else it carries stays. */
export function installConsole(): void {
  const methods = createMethods()
  for (const name of Object.keys(methods)) Reflect.set(console, name, methods[name])
}
