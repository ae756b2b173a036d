/** `console.table` as Node draws it. (Bun's own port of Node's Console fails on arrays and maps.) */
import { isMap, isSet } from '../../../core/values/built-in-kinds.ts'
import { inspectWith } from './inspect.ts'

type Column = Record<number, string>

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u

/** `undefined` if `data` is not an object: then it is logged like any other value. */
export function tableText(data: unknown, properties: readonly string[] | undefined): string | undefined {
  if (data === null || typeof data !== 'object') return undefined
  if (isMap(data)) {
    const entries = [...data]
    const columns = [
      indexes(entries),
      entries.map(([key]) => cell(key)),
      entries.map(([, value]) => cell(value)),
    ]
    return draw(['(iteration index)', 'Key', 'Values'], columns)
  }
  if (isSet(data)) {
    const items = [...data]
    return draw(['(iteration index)', 'Values'], [indexes(items), items.map(cell)])
  }
  return recordsText(data as Record<string, unknown>, properties)
}

function recordsText(data: Record<string, unknown>, properties: readonly string[] | undefined): string {
  const rowNames = Object.keys(data)
  const columns = new Map<string, Column>()
  const primitives: Column = {}
  for (const [row, name] of rowNames.entries()) {
    const item = data[name]
    const isPrimitive = item === null || (typeof item !== 'object' && typeof item !== 'function')
    if (isPrimitive && properties === undefined) {
      primitives[row] = cell(item)
      continue
    }
    for (const key of properties ?? Object.keys(item as object)) {
      const column = columns.get(key) ?? {}
      columns.set(key, column)
      if (!isPrimitive && Object.hasOwn(item, key)) column[row] = cell((item as Record<string, unknown>)[key])
    }
  }
  const head = ['(index)', ...columns.keys()]
  const body = [Object.fromEntries(rowNames.entries()), ...columns.values()]
  if (Object.keys(primitives).length > 0) {
    head.push('Values')
    body.push(primitives)
  }
  return draw(head, body, rowNames.length)
}

const indexes = (items: readonly unknown[]): Column => items.map((_, index) => `${index}`)

function cell(value: unknown): string {
  const isLarge =
    value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2
  return inspectWith(value, { depth: isLarge ? -1 : 0, maxArrayLength: 3, breakLength: Infinity })
}

function draw(
  head: readonly string[],
  columns: readonly Column[],
  rowCount = Object.keys(columns[0] ?? {}).length,
): string {
  const rows = Array.from({ length: rowCount }, (_, row) => columns.map((column) => column[row] ?? ''))
  const widths = head.map((title, index) =>
    Math.max(width(title), ...rows.map((row) => width(row[index] ?? ''))),
  )
  const bars = widths.map((columnWidth) => '─'.repeat(columnWidth + 2))
  const line = (cells: readonly string[]): string =>
    `│ ${cells.map((text, index) => text + ' '.repeat((widths[index] ?? 0) - width(text))).join(' │ ')} │`
  return [
    `┌${bars.join('┬')}┐`,
    line(head),
    `├${bars.join('┼')}┤`,
    ...rows.map(line),
    `└${bars.join('┴')}┘`,
  ].join('\n')
}

/** The number of terminal columns that the text takes. */
function width(text: string): number {
  let columns = 0
  for (const character of text) columns += wide.test(character) ? 2 : zeroWidth.test(character) ? 0 : 1
  return columns
}
