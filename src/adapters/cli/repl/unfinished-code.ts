/**
 * Whether the typed code is incomplete. Looks at brackets and quotes and, in Python, at blocks. It does not parse the
 * language: if it is wrong, Ctrl-C starts over. Pure.
 */
import type { ContextLanguage } from '../../../core/work.ts'

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const python = /"""|'''|#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()[\]{}]/gs
const javascript = /`(?:\\.|[^`\\])*`|`|\/\*|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()[\]{}]/gs

export function isUnfinished(code: string, language: ContextLanguage): boolean {
  const { isInText, depth } = scan(code, language)
  if (isInText || depth > 0) return true
  return language === 'python' && isBlockOpen(code)
}

const opener = /(?::|^\s*@\w[^\n]*)[ \t]*(?:#[^\n]*)?$/m

/** A block continues until an empty line, as at Python's own prompt. */
function isBlockOpen(code: string): boolean {
  return code.endsWith('\\') || (opener.test(code) && !code.endsWith('\n'))
}

interface Scanned {
  readonly isInText: boolean
  readonly depth: number
}

function scan(code: string, language: ContextLanguage): Scanned {
  const pattern = new RegExp(language === 'python' ? python : javascript)
  const open: string[] = []
  for (let match = pattern.exec(code); match !== null; match = pattern.exec(code)) {
    const [token] = match
    const end = endOfText[token]
    if (end !== undefined) {
      const at = code.indexOf(end, pattern.lastIndex)
      if (at < 0) return { isInText: true, depth: open.length }
      pattern.lastIndex = at + end.length
    } else if (closing[token] !== undefined) open.push(closing[token])
    else if (open.at(-1) === token) open.pop()
  }
  return { isInText: false, depth: open.length }
}

/** The tokens that begin a multi-line string or comment, and those that end it. */
const endOfText: Readonly<Record<string, string>> = { '"""': '"""', "'''": "'''", '`': '`', '/*': '*/' }
