/**
 * The guest's console. Every call sends one log message and writes the same text to stdout or stderr, usually before the
 * call returns. Texts are formatted as in Node, in every runtime. Errors of a method reach the code that called it.
 */
import { sendLog } from '../channel.ts'
import { addMethods, type Print } from './console-methods.ts'
import { withoutHarnessFrames } from '../modules/stack.ts'
import { createWrite } from './console-streams.ts'
import { tableText } from './console-table.ts'
import { formatAll, inspectWith } from './inspect.ts'

const { captureStackTrace } = Error
const now = performance.now.bind(performance)

/** Replaces every method of the global console, and keeps its other properties. */
export function installConsole(print: Print = createPrint()): void {
  addMethods(console, { formatAll, inspectWith, tableText, traceText, now }, print)
}

function traceText(message: string, method: (...values: unknown[]) => void): string {
  const origin = { stack: '', name: 'Trace', message }
  captureStackTrace(origin, method)
  return origin.stack
}

/** Prints to the channel and to the streams. */
export function createPrint(): Print {
  const writeOut = createWrite('stdout')
  const writeError = createWrite('stderr')
  return (level, formatted) => {
    const text = withoutHarnessFrames(formatted)
    sendLog(level, text)
    const write = level === 'warn' || level === 'error' ? writeError : writeOut
    write(`${text}\n`)
  }
}
