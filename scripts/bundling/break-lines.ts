/**
 * Splits minified code into lines again: one for each statement and each class member. For an uncaught error, Node
 * prints the line that threw it, which would otherwise be the whole file.
 */
import { parse } from 'acorn'

interface Syntax {
  readonly type: string
  readonly start: number
}

export function breakLines(code: string): string {
  const starts = new Set<number>()
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }), starts)
  const sorted = [...starts].filter((start) => start > 0 && code[start - 1] !== '\n').sort((a, b) => a - b)
  const pieces = [0, ...sorted].map((start, index) => code.slice(start, sorted[index]))
  return pieces.join('\n')
}

function visit(node: unknown, starts: Set<number>): void {
  if (Array.isArray(node)) {
    for (const one of node as readonly unknown[]) visit(one, starts)
    return
  }
  if (!isSyntax(node)) return
  const { body } = node as { readonly body?: unknown }
  if (['Program', 'BlockStatement', 'ClassBody', 'StaticBlock'].includes(node.type))
    for (const { start } of body as readonly Syntax[]) starts.add(start)
  for (const part of Object.values(node)) visit(part, starts)
}

function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Syntax>).type === 'string'
}
