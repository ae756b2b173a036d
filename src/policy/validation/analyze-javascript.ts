/**
 * Reads a program in JavaScript or TypeScript with Babel's parser, without running it, and reports what the tables
 * list. The walk does not recurse, because the program decides how deep its tree is.
 */
import { builtinModules } from 'node:module'

import { parse } from '@babel/parser'

import type { FoundRow } from './findings.ts'
import { isOutside } from './outside-paths.ts'
import * as tables from './javascript-tables.ts'
import type { RuleName } from './rules.ts'
import { childOf, isMember, isNode, keyOf, pathOf, textOf, unwrap } from './syntax-tree.ts'
import type { SyntaxNode } from './syntax-tree.ts'

export interface JavaScriptSource {
  readonly code: string
  readonly language: 'javascript' | 'typescript'
  /** Names of modules that may be imported; without a list, all. */
  readonly allowed?: readonly string[] | undefined
  readonly findingsMax: number
}

/** The parser recurses, so deep nesting overflows its stack. Every error but a SyntaxError is taken for that. */
export function analyzeJavaScript(source: JavaScriptSource): readonly FoundRow[] {
  try {
    return new Analysis(source).read(parseProgram(source))
  } catch (error) {
    if (!(error instanceof SyntaxError)) return [['unreadable', 'too deep', 1, 1]]
    const { line = 1, column = 0 } = (error as { loc?: { line: number; column: number } }).loc ?? {}
    return [['syntax-error', error.message.split('\n')[0] ?? '', line, column + 1]]
  }
}

function parseProgram({ code, language }: JavaScriptSource): SyntaxNode {
  const { program } = parse(code, {
    sourceType: 'module',
    allowReturnOutsideFunction: true,
    allowUndeclaredExports: true,
    attachComment: false,
    // Code with an error such as a duplicate declaration can still be read.
    errorRecovery: true,
    plugins: language === 'typescript' ? ['typescript', 'decorators-legacy'] : ['decorators-legacy'],
  })
  return program as unknown as SyntaxNode
}

/** TypeScript syntax that is not a type. */
const runningTypeScript = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'TSEnumDeclaration',
  'TSEnumBody',
  'TSEnumMember',
  'TSModuleDeclaration',
  'TSModuleBlock',
  'TSExportAssignment',
  'TSImportEqualsDeclaration',
  'TSExternalModuleReference',
  'TSParameterProperty',
])
/** The places where a name is not a variable. */
const namingKeys = new Set(['property', 'key', 'id', 'params', 'label', 'meta', 'imported', 'exported'])
const requireNames = new Set(['require', 'module.require', 'process.getBuiltinModule'])

interface Visit {
  readonly node: SyntaxNode
  readonly parent: SyntaxNode
  /** The field of the parent that contains the node. */
  readonly key: string
}

class Analysis {
  readonly #source: JavaScriptSource
  readonly #found: FoundRow[] = []
  readonly #seen = new Set<RuleName>()
  #usesFiles = false
  /** Checked when it is known whether the program imports `fs` at all. */
  readonly #paths: { readonly text: string; readonly node: SyntaxNode }[] = []

  constructor(source: JavaScriptSource) {
    this.#source = source
  }

  read(program: SyntaxNode): readonly FoundRow[] {
    const rest: Visit[] = [{ node: program, parent: program, key: '' }]
    for (let visit = rest.pop(); visit !== undefined; visit = rest.pop()) {
      this.#look(visit)
      const { node } = visit
      for (const [key, value] of Object.entries(node)) {
        if (key === 'loc' || key === 'extra') continue
        for (const child of Array.isArray(value) ? value : [value])
          if (isNode(child) && runs(child)) rest.push({ node: child, parent: node, key })
      }
    }
    if (this.#usesFiles) for (const { text, node } of this.#paths) this.#report('outside-file', text, node)
    return this.#found.toSorted(([, , line, column], [, , otherLine, otherColumn]) =>
      line === otherLine ? column - otherColumn : line - otherLine,
    )
  }

  #look(visit: Visit): void {
    const { node } = visit
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ExportNamedDeclaration':
      case 'TSExternalModuleReference': {
        const module = textOf(childOf(node, 'source') ?? childOf(node, 'expression'))
        if (module !== undefined && !isTypeOnly(node)) this.#import(module, node)
        return
      }
      case 'Identifier':
        return this.#lookAtName(visit)
      case 'MemberExpression':
      case 'OptionalMemberExpression':
        return this.#lookAtMember(visit)
      case 'ObjectProperty':
        return this.#lookAtProperty(visit)
      case 'VariableDeclarator':
        return this.#lookAtDestructuring(node)
      case 'AssignmentExpression':
        if (tables.sharedObjects.test(pathOf(childOf(node, 'left')) ?? ''))
          this.#report('prototype-change', pathOf(childOf(node, 'left')) ?? '', node)
        return
      case 'ImportExpression':
        return this.#importNow(childOf(node, 'source'), node)
      case 'CallExpression':
      case 'OptionalCallExpression':
      case 'NewExpression':
        return this.#lookAtCall(node)
    }
  }

  #lookAtName({ node, parent, key }: Visit): void {
    const name = String(node['name'])
    const rule = tables.names.get(name)
    const isNaming = namingKeys.has(key) && parent['computed'] !== true
    if (rule === undefined || isNaming || parent.type.startsWith('Import')) return
    if (parent.type === 'BinaryExpression' && parent['operator'] === 'instanceof') return
    if (key === 'object' && isMember(parent) && keyOf(parent) === 'prototype') return
    this.#report(rule, name, node)
  }

  #lookAtMember({ node }: Visit): void {
    const name = keyOf(node)
    const object = unwrap(childOf(node, 'object'))
    const path = pathOf(node)
    if (name === undefined) {
      const from = object?.type === 'Identifier' ? String(object['name']) : ''
      const isFixed = childOf(node, 'property')?.type === 'NumericLiteral'
      if (!isFixed && (tables.globalObjects.has(from) || from === 'process'))
        this.#report('internals', from, node)
      return
    }
    const rule =
      tables.members.get(path ?? '') ??
      tables.properties.get(name) ??
      // `globalThis.eval`: the resulting path is a plain name.
      (path === name ? tables.names.get(name) : undefined)
    if (rule !== undefined) this.#report(rule, path ?? name, node)
    if (name === 'constructor' && object !== undefined && isMember(object) && keyOf(object) === 'constructor')
      this.#report('constructor-escape', 'constructor.constructor', node)
  }

  #lookAtProperty({ node, parent }: Visit): void {
    const name = keyOf(node)
    if (parent.type === 'ObjectPattern' && name === 'constructor')
      this.#report('constructor-escape', '{ constructor }', node)
    if (parent.type === 'ObjectExpression' && name === '__proto__')
      this.#report('prototype-change', name, node)
  }

  /** `const { binding } = process` */
  #lookAtDestructuring(node: SyntaxNode): void {
    const pattern = childOf(node, 'id')
    const from = pathOf(childOf(node, 'init'))
    if (pattern?.type !== 'ObjectPattern' || from === undefined) return
    for (const property of pattern['properties'] as SyntaxNode[]) {
      const name = property.type === 'ObjectProperty' ? keyOf(property) : undefined
      const path = tables.globalObjects.has(from) ? name : `${from}.${name}`
      const rule = tables.members.get(path ?? '') ?? tables.names.get(path ?? '')
      if (rule !== undefined) this.#report(rule, path ?? '', property)
    }
  }

  #lookAtCall(node: SyntaxNode): void {
    const callee = unwrap(childOf(node, 'callee'))
    const [first, second] = node['arguments'] as SyntaxNode[]
    const path = pathOf(callee) ?? ''
    if (callee?.type === 'Import' || requireNames.has(path)) {
      if (callee?.type === 'Import') this.#importNow(first, node)
      else if (textOf(first) === undefined) this.#report('dynamic-import', path, node)
      else this.#import(textOf(first) ?? '', node)
      return
    }
    if (tables.timers.has(path) && textOf(first) !== undefined) this.#report('dynamic-code', path, node)
    if (callee === undefined || !isMember(callee)) return this.#lookAtPath(path, first)
    const name = keyOf(callee) ?? ''
    const isOwnClass = node.type === 'NewExpression' && childOf(callee, 'object')?.type === 'ThisExpression'
    if (name === 'constructor' && !isOwnClass) this.#report('constructor-escape', 'constructor()', node)
    if (/^Reflect\.(?:get|construct)$/.test(path) && textOf(second) === 'constructor')
      this.#report('constructor-escape', path, node)
    if (path === 'Object.defineProperty' && tables.sharedObjects.test(pathOf(first) ?? ''))
      this.#report('prototype-change', pathOf(first) ?? '', node)
    if (/^Bun\.(?:file|write)$/.test(path)) this.#usesFiles = true
    this.#lookAtPath(/^Bun\.(?:file|write)$/.test(path) ? 'open' : name, first)
  }

  #lookAtPath(name: string, argument: SyntaxNode | undefined): void {
    const text = tables.fileFunctions.has(name) ? textOf(argument) : undefined
    if (text !== undefined && argument !== undefined && isOutside(text))
      this.#paths.push({ text, node: argument })
  }

  #importNow(specifier: SyntaxNode | undefined, node: SyntaxNode): void {
    const module = textOf(specifier)
    if (module === undefined || builtinModules.includes(module.replace(/^node:/, '')))
      this.#report('dynamic-import', module ?? 'import()', node)
    if (module !== undefined) this.#import(module, node)
  }

  #import(asked: string, node: SyntaxNode): void {
    const name = asked.replace(/^node:/, '')
    if (/^fs\b/.test(name)) this.#usesFiles = true
    if (/^\.{0,2}\//.test(name)) return
    const { allowed } = this.#source
    // A module, or the package to which a file belongs.
    const names = [
      name,
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    ]
    const rule = names.map((one) => tables.modules.get(one)).find((found) => found !== undefined)
    if (allowed === undefined && rule !== undefined) this.#report(rule, `import ${asked}`, node)
    if (
      allowed !== undefined &&
      !names.some((one) => allowed.includes(one) || allowed.includes(`node:${one}`))
    )
      this.#report('import-not-allowed', asked, node)
  }

  #report(rule: RuleName, what: string, node: SyntaxNode): void {
    if (this.#found.length >= this.#source.findingsMax && this.#seen.has(rule)) return
    this.#seen.add(rule)
    const { line = 1, column = 0 } = node.loc?.start ?? {}
    this.#found.push([rule, what, line, column + 1])
  }
}

function runs({ type, declare }: SyntaxNode): boolean {
  return declare !== true && (!type.startsWith('TS') || runningTypeScript.has(type))
}

function isTypeOnly(node: SyntaxNode): boolean {
  return node['importKind'] === 'type' || node['exportKind'] === 'type'
}
