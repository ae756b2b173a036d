/**
 * Shortens long texts for readers who pay for each word: the beginning and the end stay, and the gap says how much is
 * missing. Pure.
 */

export interface ClippedText {
  readonly text: string
  readonly isClipped: boolean
}

/** The share of the beginning in what stays; errors are usually at the end. */
const headShare = 0.6
/** A cut moves to the end of a line if that is no further away than this share of its part. */
const lineShare = 0.2

/** Returns at most about this number of UTF-16 units. No character is split. */
export function clipText(text: string, lengthMax: number): ClippedText {
  if (text.length <= lengthMax) return { text, isClipped: false }
  const head = headOf(text, Math.floor(lengthMax * headShare))
  const tail = tailOf(text, lengthMax - head.length)
  const missing = text.length - head.length - tail.length
  return { text: `${head}\n[… ${missing} characters left out …]\n${tail}`, isClipped: true }
}

/** The beginning alone. */
export function clipEnd(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, wholeEnd(text, lengthMax))} […]`
}

function headOf(text: string, lengthMax: number): string {
  const end = wholeEnd(text, lengthMax)
  const line = text.lastIndexOf('\n', end - 1)
  return text.slice(0, end - line <= lengthMax * lineShare && line > 0 ? line : end)
}

function tailOf(text: string, lengthMax: number): string {
  const start = wholeEnd(text, text.length - lengthMax)
  const line = text.indexOf('\n', start)
  return text.slice(line !== -1 && line - start <= lengthMax * lineShare ? line + 1 : start)
}

/** The end, moved so that it splits no surrogate pair. */
function wholeEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}
