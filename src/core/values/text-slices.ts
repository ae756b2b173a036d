/**
 * A long text piece by piece, with no character cut in two, for a process that has other things to do in between. Runs
 * after guest code, so it uses captured built-ins only.
 */
import { stringCodeAt, stringSlice } from '../primordials.ts'

/** UTF-16 units; encoding this many takes less than a millisecond. */
const sliceLength = 128 * 1024

export interface TextSlice {
  readonly text: string
  /** Where the next one begins. */
  readonly end: number
}

export function sliceText(text: string, start: number): TextSlice {
  let end = start + sliceLength
  if (end >= text.length) return { text: start === 0 ? text : stringSlice(text, start), end: text.length }
  const last = stringCodeAt(text, end - 1)
  if (last >= 0xd800 && last <= 0xdbff) end--
  return { text: stringSlice(text, start, end), end }
}
