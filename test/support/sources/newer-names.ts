/**
 * Finds what a JavaScript file uses that an older Node does not have: syntax, globals and their members, exports,
 * methods.
 */
import { parse } from 'acorn'

import type { NodeNames } from './node-names.ts'

export interface Nodes {
  /** The Node that has to run the file. */
  readonly oldest: NodeNames
  /** A newer Node. A method whose name neither has belongs to some other program. */
  readonly newest: NodeNames
  /** Names of methods and properties that other files of the same program define. */
  readonly own?: ReadonlySet<string>
}

interface Tree {
  readonly type: string
  readonly [key: string]: unknown
}

/** The names of methods and properties that a file defines. */
export function namesDefinedIn(code: string): string[] {
  const tree = parseOrDescribe(code)
  return typeof tree === 'string' ? [] : [...walk(tree)].flatMap(ownKeyOf)
}

export function findNewerNames(code: string, { oldest, newest, own: elsewhere }: Nodes): string[] {
  const tree = parseOrDescribe(code)
  if (typeof tree === 'string') return [tree]
  const all = [...walk(tree)]
  const declared = new Set(all.flatMap(declaredBy))
  const guarded = new Set(
    all.flatMap(({ type, operator, argument }) =>
      type === 'UnaryExpression' && operator === 'typeof' ? nameOf(argument) : [],
    ),
  )
  const own = new Set([...(elsewhere ?? []), ...all.flatMap(ownKeyOf)])
  const isOld = (name: string) => declared.has(name) || guarded.has(name) || oldest.globals.includes(name)
  const found = all.flatMap((node) => {
    if (node.type === 'Identifier' && node['isReference'] === true)
      return [node['name'] as string].filter((name) => name !== 'arguments' && !isOld(name))
    if (node.type === 'ImportDeclaration') return newerImports(node, oldest)
    if (node.type !== 'MemberExpression' || node['computed'] === true) return []
    const [name = ''] = nameOf(node['property'])
    const [owner = ''] = nameOf(node['object'])
    const members = declared.has(owner) ? undefined : oldest.members[owner]
    if (members !== undefined && members.length > 0 && /^[A-Z]/.test(owner))
      return members.includes(name) ? [] : [`${owner}.${name}`]
    return newest.names.includes(name) && !oldest.names.includes(name) && !own.has(name) ? [`.${name}`] : []
  })
  return [...new Set(found)]
}

/** V8 12.4 has the syntax of ECMAScript 2024, and of later syntax only import attributes, which nothing here uses. */
function parseOrDescribe(code: string): Tree | string {
  try {
    return parse(code, { ecmaVersion: 2024, sourceType: 'module', allowHashBang: true }) as unknown as Tree
  } catch (error) {
    return `syntax: ${(error as Error).message}`
  }
}

/**
 * Every node of the tree. Identifiers that refer to a value, and are not a property name or a label, get `isReference`.
 */
function* walk(node: Tree): Generator<Tree> {
  yield node
  for (const [key, value] of Object.entries(node)) {
    const isName =
      (key === 'property' || key === 'key') && node['computed'] !== true && node['shorthand'] !== true
    const isLabel = key === 'label' || key === 'imported' || key === 'exported' || key === 'meta'
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child !== 'object' || child === null || typeof Reflect.get(child, 'type') !== 'string')
        continue
      const isReference = !isName && !isLabel && !/^(MetaProperty|ExportSpecifier)$/.test(node.type)
      yield* walk({ ...(child as Tree), isReference })
    }
  }
}

function nameOf(node: unknown): string[] {
  const { type, name } = Object(node) as Tree
  return type === 'Identifier' ? [name as string] : []
}

/** Names that a node declares. Scopes are ignored, because this project does not shadow globals. */
function declaredBy(node: Tree): string[] {
  if (node.type === 'VariableDeclarator') return patternNames(node['id'])
  if (node.type === 'CatchClause') return patternNames(node['param'])
  if (node.type.startsWith('Import') && node['local'] !== undefined) return nameOf(node['local'])
  const isFunction = /Function/.test(node.type)
  if (!isFunction && !/^Class(Declaration|Expression)$/.test(node.type)) return []
  const parameters = isFunction ? (node['params'] as unknown[]).flatMap(patternNames) : []
  return [...nameOf(node['id']), ...parameters]
}

function patternNames(pattern: unknown): string[] {
  const node = Object(pattern) as Tree
  if (node.type === 'Identifier') return nameOf(node)
  const parts = [node['left'], node['argument'], node['value'], node['elements'], node['properties']].flat()
  return parts.flatMap((part) => (typeof part === 'object' && part !== null ? patternNames(part) : []))
}

function ownKeyOf(node: Tree): string[] {
  return /^(MethodDefinition|PropertyDefinition|Property)$/.test(node.type) ? nameOf(node['key']) : []
}

function newerImports(node: Tree, { modules }: NodeNames): string[] {
  const source = String((node['source'] as Tree)['value'])
  if (!source.startsWith('node:')) return []
  const exported = modules[source.slice('node:'.length)]
  if (exported === undefined) return [source]
  return (node['specifiers'] as Tree[])
    .flatMap(({ imported }) => nameOf(imported))
    .filter((name) => name !== 'default' && !exported.includes(name))
    .map((name) => `${name} of ${source}`)
}
