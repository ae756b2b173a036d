/** Small queries on Babel's syntax tree. None goes deep, because the program chooses the depth. */
import { globalObjects } from './javascript-tables.ts'

export interface SyntaxNode {
  readonly type: string
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } } | null
  readonly [key: string]: unknown
}

/** How many nodes are visited for one name or text. */
const stepsMax = 16
const textLengthMax = 1000

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'
}

export function childOf(node: SyntaxNode | undefined, key: string): SyntaxNode | undefined {
  const child = node?.[key]
  return isNode(child) ? child : undefined
}

export function isMember({ type }: SyntaxNode): boolean {
  return type === 'MemberExpression' || type === 'OptionalMemberExpression'
}

/** Wrappers of an expression that only the TypeScript compiler sees. */
const wrappers = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
])

export function unwrap(node: SyntaxNode | undefined): SyntaxNode | undefined {
  let inner = node
  for (let step = 0; step < stepsMax && inner !== undefined && wrappers.has(inner.type); step++)
    inner = childOf(inner, 'expression')
  return inner
}

/** A string, or a concatenation of a few. */
export function textOf(asked: SyntaxNode | undefined): string | undefined {
  const rest = [asked]
  let text = ''
  for (let step = 0; step < stepsMax; step++) {
    if (rest.length === 0) return text
    const node = unwrap(rest.pop())
    if (node?.type === 'StringLiteral') text += String(node['value']).slice(0, textLengthMax)
    else if (node?.type === 'BinaryExpression' && node['operator'] === '+')
      rest.push(childOf(node, 'right'), childOf(node, 'left'))
    else if (node?.type === 'TemplateElement')
      text += ((node['value'] as { cooked?: string }).cooked ?? '').slice(0, textLengthMax)
    else if (node?.type === 'TemplateLiteral') rest.push(...templateParts(node).toReversed())
    else return undefined
  }
  return undefined
}

function templateParts(node: SyntaxNode): SyntaxNode[] {
  const quasis = (node['quasis'] as SyntaxNode[]).slice(0, stepsMax)
  const expressions = node['expressions'] as SyntaxNode[]
  return quasis.flatMap((quasi, index) => [quasi, ...(expressions[index] ? [expressions[index]] : [])])
}

/** The name of the property that a member expression, a property or a method names. */
export function keyOf(node: SyntaxNode): string | undefined {
  const key = childOf(node, isMember(node) ? 'property' : 'key')
  if (node['computed'] === true) return textOf(key)
  if (key?.type === 'Identifier') return String(key['name'])
  return textOf(key)
}

/** `a.b.c` for a global and its properties, without a leading `globalThis` or similar. */
export function pathOf(asked: SyntaxNode | undefined): string | undefined {
  const parts: string[] = []
  let node = unwrap(asked)
  for (let step = 0; step < stepsMax && node !== undefined; step++) {
    if (node.type === 'Identifier') {
      const name = String(node['name'])
      if (parts.length === 0 || !globalObjects.has(name)) parts.push(name)
      return parts.toReversed().join('.')
    }
    const key = isMember(node) ? keyOf(node) : undefined
    if (key === undefined) return undefined
    if (!globalObjects.has(key)) parts.push(key)
    node = unwrap(childOf(node, 'object'))
  }
  return undefined
}
