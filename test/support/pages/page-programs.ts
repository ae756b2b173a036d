/** The programs and commands in a page, and the output that their comments promise. */

export interface Block {
  readonly place: string
  readonly language: string
  readonly code: string
  /** From the comment before the block; a block without one has to run. */
  readonly reasonNotToRun: string | undefined
}

/** Records what a line shows, each value as `node` prints it alone. */
export const showModule = `
import { appendFileSync } from 'node:fs'
import { inspect } from 'node:util'
globalThis.show = (line, ...values) => {
  const text = values.map((value) => inspect(value, { breakLength: Infinity })).join(' ')
  appendFileSync(process.env.SHOWN_FILE, JSON.stringify([line, text]) + '\\n')
}
`

/** The shown text by line of the program. */
export function readShown(text: string): Map<number, string> {
  const lines = text.trim().split('\n').filter(Boolean)
  return new Map(lines.map((line) => JSON.parse(line) as [number, string]))
}

export function findBlocks(path: string, page: string): Block[] {
  const found = page.matchAll(/(?:<!-- not run:([^>]*)-->\n+)?^```(\w*)\n([\s\S]*?)^```/gm)
  return [...found].map(({ 0: whole, 1: reason, 2: language = '', 3: code = '', index }) => ({
    place: `${path}, line ${page.slice(0, index + whole.indexOf('```')).split('\n').length}`,
    language,
    code,
    reasonNotToRun: reason?.trim(),
  }))
}

/** Replaces each `console.log(…) // what it shows` with a call that records what it shows. */
export function annotate(code: string): { source: string; expected: Map<number, string> } {
  const expected = new Map<number, string>()
  const lines = code.split('\n').map((line, index) => {
    const [, before, values, text] = /^(\s*)console\.log\((.*)\) \/\/ (.*)$/.exec(line) ?? []
    if (text === undefined) return line
    expected.set(index + 1, text)
    return `${before}globalThis.show(${index + 1}, ${values})`
  })
  return { source: lines.join('\n'), expected }
}

/** A comment may omit quotes, end in `…`, or continue with an explanation after a colon. */
export function agrees(actual: string | undefined, comment: string): boolean {
  if (actual === undefined) return false
  const plain = (text: string) => text.replaceAll("'", '').trim()
  const [start = '', ellipsis] = plain(comment).split('…')
  if (ellipsis !== undefined) return plain(actual).startsWith(start.trim())
  return start === plain(actual) || start.startsWith(`${plain(actual)}: `)
}
