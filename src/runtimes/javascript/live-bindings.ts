/**
 * Imports are views of what a module exports, not copies: a counter that the module raises is raised for its importers
 * too. As a constant a name would keep its first value, so where it is read by itself it becomes a read of the module.
 * Where it is called, or a member of it is taken, it stays: engines quote that code in their messages, and functions and
 * objects are seldom replaced.
 */
import type * as acorn from 'acorn'
import type { Edits } from './edits.ts'

interface Place {
  readonly node: unknown
  readonly parent: acorn.AnyNode | undefined
  /** The property of the parent. */
  readonly key: string
  /** Whether names here are declared, or assigned by a pattern. */
  readonly isPattern: boolean
}

interface Use {
  readonly node: acorn.Identifier
  readonly isShorthand: boolean
}

/** `exports` says, for each name, the code that reads it from its module. */
export function readLive(program: acorn.Program, exports: ReadonlyMap<string, string>, edits: Edits): void {
  const uses: Use[] = []
  const redeclared = new Set<string>()
  const statements = program.body.filter(({ type }) => type !== 'ImportDeclaration')
  // Iterative: the tree is as deep as the guest made it.
  const waiting: Place[] = statements.map((node) => ({ node, parent: undefined, key: '', isPattern: false }))
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { node, parent, key, isPattern } = place
    if (!isNode(node)) continue
    if (node.type === 'Identifier') {
      if (!exports.has(node.name) || isOnlyName(parent, key)) continue
      if (isPattern) redeclared.add(node.name)
      else if (!isQuoted(parent, key)) uses.push({ node, isShorthand: isShorthand(parent) })
      continue
    }
    for (const [name, child] of Object.entries(node)) {
      const declares = isPattern ? isPatternPart(node, name) : startsPattern(node, name)
      for (const part of Array.isArray(child) ? child : [child])
        waiting.push({ node: part, parent: node, key: name, isPattern: declares })
    }
  }
  for (const { node, isShorthand: isShort } of uses) {
    // Which of the two is meant would take knowing every scope.
    if (redeclared.has(node.name)) continue
    const read = exports.get(node.name) ?? node.name
    edits.blank(node.start, node.end, isShort ? `${node.name}:${read}` : read)
  }
}

const isNode = (value: unknown): value is acorn.AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** A key, a member's name or a label, and no variable. */
function isOnlyName(parent: acorn.AnyNode | undefined, key: string): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return key === 'property' && !parent.computed
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return key === 'key' && !parent.computed
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return key === 'label'
    case 'ExportSpecifier':
    case 'MetaProperty':
      return true
    default:
      return false
  }
}

const isQuoted = (parent: acorn.AnyNode | undefined, key: string): boolean =>
  key === 'callee' || key === 'tag' || (parent?.type === 'MemberExpression' && key === 'object')

const isShorthand = (parent: acorn.AnyNode | undefined): boolean =>
  parent?.type === 'Property' && parent.shorthand

function startsPattern(node: acorn.AnyNode, key: string): boolean {
  if (key === 'params' || key === 'param') return true
  if (key === 'id') return /Function|Class|VariableDeclarator/.test(node.type)
  return isPatternPart(node, key) && /Pattern$|^RestElement$/.test(node.type)
}

/** Defaults and computed keys inside of patterns are ordinary expressions. */
function isPatternPart(node: acorn.AnyNode, key: string): boolean {
  switch (node.type) {
    case 'ObjectPattern':
    case 'ArrayPattern':
    case 'RestElement':
      return key === 'properties' || key === 'elements' || key === 'argument'
    case 'AssignmentPattern':
      return key === 'left'
    case 'Property':
      return key === 'value'
    default:
      return false
  }
}
