/**
 * Rewrites what V8's REPL mode does not accept: imports, exports and `import.meta` become calls of the harness. Lines keep
 * their numbers. V8 itself handles redeclarations, top-level `await` and the completion value.
 */
import type * as acorn from 'acorn'

import { Edits } from '../modules/edits.ts'
import { requireAcorn } from '../harness-packages.ts'
import type { MapPosition } from '../modules/positions.ts'

/** The global that rewritten entries call. It is not enumerable. */
export const importsName = '$lazaretImports'

export interface Rewritten {
  readonly text: string
  readonly toBefore: MapPosition
}

const asWritten: MapPosition = (position) => position
const moduleWord = /\b(?:import|export)\b/

/** Code that acorn cannot parse stays unchanged: V8 reports what is wrong with it. */
export function rewriteEntry(code: string): Rewritten {
  const program = moduleWord.test(code) ? parse(code) : undefined
  if (program === undefined) return { text: code, toBefore: asWritten }
  const edits = new Edits(code)
  for (const statement of program.body) rewriteStatement(statement, edits, code)
  rewriteExpressions(program, edits)
  return edits.apply()
}

function parse(code: string): acorn.Program | undefined {
  const { parse: parseCode } = requireAcorn()
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parseCode(code, { ecmaVersion: 'latest', sourceType, allowAwaitOutsideFunction: true })
    } catch {
      // As a script it may be valid.
    }
  }
  return undefined
}

function rewriteStatement(statement: acorn.Program['body'][number], edits: Edits, code: string): void {
  switch (statement.type) {
    case 'ImportDeclaration':
      return edits.blank(statement.start, statement.end, importText(statement))
    case 'ExportAllDeclaration':
      return edits.blank(statement.start, statement.end, `void await ${loadText(statement)};`)
    case 'ExportNamedDeclaration':
      if (statement.declaration) return edits.blank(statement.start, statement.declaration.start)
      return edits.blank(
        statement.start,
        statement.end,
        statement.source ? `void await ${loadText(statement as { source: acorn.Literal })};` : ';',
      )
    case 'ExportDefaultDeclaration':
      return rewriteDefault(statement, edits, code)
  }
}

/** A default-exported expression becomes the entry's value. An anonymous function or class is only evaluated. */
function rewriteDefault(statement: acorn.ExportDefaultDeclaration, edits: Edits, code: string): void {
  const { declaration } = statement
  edits.blank(statement.start, declaration.start)
  if ('id' in declaration && declaration.id) return
  const hasSemicolon = code[statement.end - 1] === ';'
  edits.insert(declaration.start, declaration.type.endsWith('Declaration') ? 'void(' : '(')
  edits.insert(hasSemicolon ? statement.end - 1 : statement.end, hasSemicolon ? ')' : ');')
}

interface Loading {
  readonly source: acorn.Literal
  readonly attributes?: readonly acorn.ImportAttribute[]
}

function loadText({ source, attributes = [] }: Loading, wanted: readonly string[] = []): string {
  const pairs = attributes.map(({ key, value }) => [
    key.type === 'Identifier' ? key.name : key.value,
    value.value,
  ])
  const options =
    pairs.length === 0 ? 'undefined' : JSON.stringify({ with: Object.fromEntries(pairs) as object })
  return `${importsName}.load(${JSON.stringify(String(source.value))},${options},${JSON.stringify(wanted)})`
}

function importText(statement: acorn.ImportDeclaration): string {
  const names = statement.specifiers.flatMap((specifier) =>
    specifier.type === 'ImportNamespaceSpecifier'
      ? []
      : [[importedName(specifier), specifier.local.name] as const],
  )
  const loading = `await ${loadText(
    statement,
    names.map(([imported]) => imported),
  )}`
  const whole = statement.specifiers.find(({ type }) => type === 'ImportNamespaceSpecifier')
  const parts = names.map(([imported, local]) => `${JSON.stringify(imported)}:${local}`)
  if (whole !== undefined && parts.length > 0)
    return `const ${whole.local.name}=${loading},{${parts.join()}}=${whole.local.name};`
  if (whole !== undefined) return `const ${whole.local.name}=${loading};`
  return parts.length === 0 ? `void ${loading};` : `const {${parts.join()}}=${loading};`
}

function importedName(specifier: acorn.ImportSpecifier | acorn.ImportDefaultSpecifier): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  const { imported } = specifier
  return imported.type === 'Identifier' ? imported.name : String(imported.value)
}

/** Iterative: the tree is as deep as the guest made it. */
function rewriteExpressions(program: acorn.Program, edits: Edits): void {
  const waiting: unknown[] = [program]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null) continue
    if ('type' in node && node.type === 'ImportExpression') {
      const { start } = node as acorn.ImportExpression
      edits.blank(start, start + 'import'.length, `${importsName}.import`)
    }
    if ('type' in node && node.type === 'MetaProperty' && (node as acorn.MetaProperty).meta.name === 'import')
      edits.blank((node as acorn.Node).start, (node as acorn.Node).end, `${importsName}.meta`)
    else for (const child of Object.values(node)) waiting.push(child)
  }
}
