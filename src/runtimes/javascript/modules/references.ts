/** Finds the references of a program to its imports. Skips names that an inner scope declares again. */
import type * as acorn from 'acorn'

/** A use of an imported name: a read, a call, or an assignment by `&&=`, `||=` or `??=`. */
export interface Reference {
  readonly node: acorn.Identifier
  readonly parent: acorn.AnyNode | undefined
  /** The property of the parent that holds the node. */
  readonly key: string
}

interface Scope {
  readonly outer: Scope | undefined
  readonly names: Set<string>
  /** Whether this scope holds the `var` declarations of inner blocks. */
  readonly holdsVariables: boolean
}

interface Place {
  readonly node: unknown
  readonly parent: acorn.AnyNode | undefined
  readonly key: string
  readonly scope: Scope
  /** For names in a pattern: the scope in which they are declared, or that they are only assigned. */
  readonly target: Scope | 'assigned' | undefined
}

type Found = Reference & { readonly scope: Scope }

export interface Findings {
  readonly references: readonly Reference[]
  /** Where an expression statement begins. */
  readonly statementStarts: ReadonlySet<number>
  readonly catches: readonly acorn.CatchClause[]
}

/** Omits plain assignments: the constant that has the import's name already throws the right error. */
export function findReferences(program: acorn.Program, names: ReadonlySet<string>): Findings {
  const found: Found[] = []
  const statementStarts = new Set<number>()
  const catches: acorn.CatchClause[] = []
  const root: Scope = { outer: undefined, names: new Set(), holdsVariables: true }
  const statements = program.body.filter(({ type }) => type !== 'ImportDeclaration')
  // Iterative: the tree is as deep as the guest made it.
  const waiting: Place[] = statements.map((node) => place(node, root))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, parent, key, scope, target } = next
    if (!isNode(node)) continue
    if (node.type === 'Identifier') {
      if (!names.has(node.name) || isOnlyName(parent, key)) continue
      if (typeof target === 'object') target.names.add(node.name)
      else if (target === undefined && !isAssigned(parent, key)) found.push({ node, parent, key, scope })
      continue
    }
    if (node.type === 'ExpressionStatement') statementStarts.add(node.start)
    if (node.type === 'CatchClause') catches.push(node)
    pushChildren({ ...next, node }, waiting)
  }
  const references = found.filter(({ node, scope }) => !isRedeclared(node.name, scope))
  return { references, statementStarts, catches }
}

const place = (node: unknown, scope: Scope): Place => ({
  node,
  parent: undefined,
  key: '',
  scope,
  target: undefined,
})

function pushChildren(parent: Place & { readonly node: acorn.AnyNode }, waiting: Place[]): void {
  const { node, scope } = parent
  const inner = hasScope(node) ? createScope(parent) : scope
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== 'object' || child === null) continue
    const isOutside = key === 'discriminant' || (key === 'id' && node.type.endsWith('Declaration'))
    const childScope = isOutside ? scope : inner
    const target = targetOf(parent, key, childScope)
    for (const part of Array.isArray(child) ? child : [child])
      waiting.push({ node: part, parent: node, key, scope: childScope, target })
  }
}

const isNode = (value: unknown): value is acorn.AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const hasScope = ({ type }: acorn.AnyNode): boolean =>
  /Function|^Class(?:Declaration|Expression)$|^For|^(?:BlockStatement|StaticBlock|CatchClause|SwitchStatement)$/.test(
    type,
  )

/** The parameters of a function have their own scope: defaults of parameters do not see declarations of the body. */
const createScope = ({ node, parent, scope }: Place & { readonly node: acorn.AnyNode }): Scope => ({
  outer: scope,
  names: new Set(),
  holdsVariables: node.type === 'StaticBlock' || (parent !== undefined && /Function/.test(parent.type)),
})

function targetOf({ node, parent, target }: Place, key: string, scope: Scope): Place['target'] {
  const { type } = node as acorn.AnyNode
  if (key === 'params' || key === 'param') return scope
  if (key === 'id') {
    const isVariable = parent?.type === 'VariableDeclaration' && parent.kind === 'var'
    return isVariable ? variableScope(scope) : scope
  }
  if (!isPatternPart(type, key)) return undefined
  return target ?? (/Pattern$|^RestElement$/.test(type) ? 'assigned' : undefined)
}

function variableScope(scope: Scope): Scope {
  let found = scope
  while (!found.holdsVariables && found.outer !== undefined) found = found.outer
  return found
}

/** Defaults and computed keys inside patterns are ordinary expressions. */
function isPatternPart(type: acorn.AnyNode['type'], key: string): boolean {
  switch (type) {
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

/** Whether the identifier is a key, the name of a member or a label, and not a variable. */
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

function isAssigned(parent: acorn.AnyNode | undefined, key: string): boolean {
  switch (parent?.type) {
    case 'AssignmentExpression':
      return key === 'left' && !/^(?:&&|\|\||\?\?)=$/.test(parent.operator)
    case 'ForInStatement':
    case 'ForOfStatement':
      return key === 'left'
    default:
      return parent?.type === 'UpdateExpression'
  }
}

function isRedeclared(name: string, from: Scope): boolean {
  for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.outer)
    if (scope.names.has(name)) return true
  return false
}
