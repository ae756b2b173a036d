/** Stack traces with only the program's frames, and with positions in the code as written. */
import { stringCodeAt, stringIndexOf, stringSlice } from '../../../core/primordials.ts'
import { createAllocationWatch } from './allocations.ts'
import { lockStackTraces } from '../../javascript/bare/stack.ts'

export const programName = '<code>'

/** The lines before the program's first line, and the columns before it on that line. */
let linesBefore = 0
let columnsBefore = 0

export function installStacks(): void {
  lockStackTraces(programName, mapPlaces, createAllocationWatch())
}

export function setOffset(offset: { readonly lines: number; readonly columns: number }): void {
  linesBefore = offset.lines
  columnsBefore = offset.columns
}

/** Filters a stack that came back from the Node process, which has added frames, to the program's frames. */
export function ownFrames(stack: string): string {
  let text = ''
  let isHeader = true
  for (let start = 0; start <= stack.length;) {
    const found = stringIndexOf(stack, '\n', start)
    const end = found === -1 ? stack.length : found
    const line = stringSlice(stack, start, end)
    const isFrame = stringIndexOf(line, '    at ', 0) === 0
    if (isFrame) isHeader = false
    if (isHeader || stringIndexOf(line, `${programName}:`, 0) !== -1)
      text += `${start === 0 ? '' : '\n'}${line}`
    start = end + 1
  }
  return text
}

/** The engine names the program's own frame `eval`. */
const evaluated = `eval (${programName}:`

function mapPlaces(frame: string): string {
  const isProgram = stringIndexOf(frame, evaluated, 0) === 0
  const text = isProgram ? stringSlice(frame, 'eval ('.length, -1) : frame
  if (linesBefore === 0 && columnsBefore === 0) return text
  const start = stringIndexOf(text, `${programName}:`, 0)
  if (start === -1) return text
  const lineStart = start + programName.length + 1
  const line = readNumber(text, lineStart)
  const column = readNumber(text, line.end + 1)
  const isFirst = line.value === linesBefore + 1
  const place = `${line.value - linesBefore}:${isFirst ? column.value - columnsBefore : column.value}`
  return `${stringSlice(text, 0, lineStart)}${place}${stringSlice(text, column.end)}`
}

function readNumber(text: string, start: number): { readonly value: number; readonly end: number } {
  let end = start
  let value = 0
  for (; end < text.length; end++) {
    const digit = stringCodeAt(text, end) - 0x30
    if (!(digit >= 0 && digit <= 9)) break
    value = value * 10 + digit
  }
  return { value, end }
}
