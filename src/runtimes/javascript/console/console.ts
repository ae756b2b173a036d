/**
 * The guest's console. Every call becomes one log message and the same text on stdout or stderr, as a rule written
 * before the call returns. Texts are Node's in every runtime. What a method throws, it throws at the guest that called it.
 */
import { sendLog } from '../channel.ts'
import { addMethods, type Print } from './console-methods.ts'
import { createWrite } from './console-streams.ts'
import { tableText } from './console-table.ts'
import { formatAll, inspectWith } from './inspect.ts'

const { captureStackTrace } = Error
const now = performance.now.bind(performance)

/** Replaces every method of the global console; what else it carries stays. */
export function installConsole(): void {
  addMethods(console, { formatAll, inspectWith, tableText, traceText, now }, createPrint())
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
  return (level, text) => {
    sendLog(level, text)
    const write = level === 'warn' || level === 'error' ? writeError : writeOut
    write(`${text}\n`)
  }
}
