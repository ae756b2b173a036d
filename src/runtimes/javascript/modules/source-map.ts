/**
 * Reads a version 3 source map. It is not a library for two reasons: it runs after guest code, which may have patched the
 * functions that a library calls, and loading a library takes longer than most runs.
 */
import { stringCodeAt } from '../../../core/primordials.ts'
import type { MapPosition } from './positions.ts'

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const semicolon = 0x3b
const comma = 0x2c
// A row holds the generated line and column and the original line and column, all counted from 0.
const rowWidth = 4

const digitOf = new Int8Array(128)
for (let index = 0; index < digits.length; index++) digitOf[digits.charCodeAt(index)] = index
const Rows = Int32Array

/** Maps generated positions to the map's only source. */
export function createSourceMapReader(mappings: string): MapPosition {
  let rows: { readonly values: Int32Array; readonly count: number } | undefined
  return (position) => {
    rows ??= decodeMappings(mappings)
    const row = lastRowAt(rows, position.line - 1, position.column - 1)
    if (row === -1) return position
    const { values } = rows
    return { line: (values[row + 2] as number) + 1, column: (values[row + 3] as number) + 1 }
  }
}

function decodeMappings(mappings: string): { readonly values: Int32Array; readonly count: number } {
  // Every segment that makes a row has at least four digits.
  const values = new Rows((mappings.length / 4 + 1) * rowWidth)
  const state = { index: 0, line: 0, column: 0, originalLine: 0, originalColumn: 0 }
  let count = 0
  while (state.index < mappings.length) {
    const code = stringCodeAt(mappings, state.index)
    if (code === semicolon) {
      state.line++
      state.column = 0
    }
    if (code === semicolon || code === comma) {
      state.index++
      continue
    }
    state.column += readDelta(mappings, state)
    if (isSegmentEnd(mappings, state.index)) continue
    readDelta(mappings, state) // The source; a map has only one.
    state.originalLine += readDelta(mappings, state)
    state.originalColumn += readDelta(mappings, state)
    if (!isSegmentEnd(mappings, state.index)) readDelta(mappings, state) // The name.
    values[count++] = state.line
    values[count++] = state.column
    values[count++] = state.originalLine
    values[count++] = state.originalColumn
  }
  return { values, count }
}

function isSegmentEnd(mappings: string, index: number): boolean {
  const code = stringCodeAt(mappings, index)
  return index >= mappings.length || code === semicolon || code === comma
}

/**
 * Reads a base-64 VLQ number. Each digit has five bits of it, lowest first, and a sixth bit that says whether another digit
 * follows. The number's lowest bit is the sign.
 */
function readDelta(mappings: string, state: { index: number }): number {
  let value = 0
  for (let shift = 0; state.index < mappings.length; shift += 5) {
    const digit = digitOf[stringCodeAt(mappings, state.index++)] ?? 0
    value |= (digit & 31) << shift
    if ((digit & 32) === 0) break
  }
  return (value & 1) === 1 ? -(value >>> 1) : value >>> 1
}

/**
 * The last row of the line at or before the column. If there is none, the first row after it, because code that a compiler
 * inserts at the start of a line has no row. -1 if the line has no rows.
 */
function lastRowAt(
  rows: { readonly values: Int32Array; readonly count: number },
  line: number,
  column: number,
): number {
  let low = 0
  let high = rows.count / rowWidth - 1
  let found = -1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const row = middle * rowWidth
    const rowLine = rows.values[row] as number
    const isBefore = rowLine < line || (rowLine === line && (rows.values[row + 1] as number) <= column)
    if (isBefore) {
      if (rowLine === line) found = row
      low = middle + 1
    } else high = middle - 1
  }
  const next = low * rowWidth
  if (found === -1 && next < rows.count && rows.values[next] === line) return next
  return found
}
