/** Tables of pages, and the names in the code that tests compare them with. */
import { listFiles, readText } from '../sources/checkout.ts'
import { cellsOf } from './page-tables.ts'

export interface Table {
  readonly page: string
  /** The heading above it. */
  readonly heading: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/**
 * Identifies a table: its page, its heading, and the first word of its header, because a heading may have several
 * tables.
 */
export function nameOf({ page, heading, head }: Table): string {
  return [page, heading, head.find((cell) => cell !== '') ?? ''].join(' › ')
}

export function tablesOf(page: string): Table[] {
  const tables: Table[] = []
  let heading = ''
  let isCode = false
  const lines = readText(page).split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode
    if (isCode) continue
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
    if (!/^\|[\s:|-]*-[\s:|-]*$/.test(line)) continue
    const below = lines.slice(index + 1)
    const end = below.findIndex((row) => !row.startsWith('|'))
    tables.push({
      page,
      heading,
      head: cellsOf(lines[index - 1] ?? ''),
      rows: below.slice(0, end < 0 ? undefined : end).map(cellsOf),
    })
  }
  return tables
}

export const allTables = (): Table[] => listFiles('', ['.md']).flatMap(tablesOf)

/** The texts in backticks in a cell. */
export function quotedIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

/** The members of an interface, without those that it inherits. Relies on the formatter's layout. */
export function membersOf(file: string, name: string): string[] {
  const [, body = ''] =
    new RegExp(`interface ${name}\\b[^{]*\\{\\n([^]*?)^\\}`, 'm').exec(readText(file)) ?? []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member)
}

/** The members of a union of string literals. */
export function literalsOf(file: string, name: string): string[] {
  const [, union = ''] = new RegExp(`type ${name} =([^]*?)\\n(?:\\n|[a-z/])`).exec(readText(file)) ?? []
  return [...union.matchAll(/'([^']+)'/g)].map(([, text = '']) => text)
}
