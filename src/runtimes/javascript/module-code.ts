/**
 * The slow road: code with top-level `await`, static imports or exports becomes the body of an async function that
 * returns the completion value. Every line stays where it is.
 */
import * as acorn from 'acorn'
import { recordCompletion } from './completion.ts'
import { Edits } from './edits.ts'
import { CompileError, toCompileError } from './errors.ts'
import { checkImport, createImportMeta } from './imports.ts'
import { type MapPosition, type Position, positionAt, skipOnFirstLine, strictPrefix } from './positions.ts'

export interface FunctionCode {
  /** An expression: an async function of `(importMeta, checkImport)`. */
  readonly text: string
  readonly toBefore: MapPosition
}

interface Names {
  readonly value: string
  readonly saved: string
  readonly meta: string
  readonly check: string
  readonly module: string
}

type ModuleDeclaration =
  | acorn.ImportDeclaration
  | acorn.ExportNamedDeclaration
  | acorn.ExportDefaultDeclaration
  | acorn.ExportAllDeclaration

/** Throws a `CompileError` that says where. */
export function compileModule(code: string): FunctionCode {
  const program = parseModule(code)
  const edits = new Edits(code)
  const names = createNames(code)
  const imports = rewriteDeclarations(code, program.body, edits, names)
  if (code.includes('import')) replaceImportMeta(program, edits, names.meta)
  recordCompletion(code, statementsOf(program.body), edits, names)
  const { text, toBefore } = edits.apply()
  const head = `(async(${names.meta},${names.check})=>{${strictPrefix}let ${names.value};`
  const prefix = head + imports.map((statement) => statement.text).join('')
  const skipPrefix = skipOnFirstLine(prefix.length)
  const findImport = createImportFinder(head.length, imports)
  return {
    text: `${prefix}${text}\n;return ${names.value}})`,
    toBefore: (position) => findImport(position) ?? toBefore(skipPrefix(position)),
  }
}

/** Runs what the compiled expression gave. */
export function startModule(main: unknown): Promise<unknown> {
  return (main as (meta: object, check: typeof checkImport) => Promise<unknown>)(
    createImportMeta(),
    checkImport,
  )
}

function parseModule(code: string): acorn.Program {
  try {
    return acorn.parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true })
  } catch (thrown) {
    const place = thrown instanceof SyntaxError ? (thrown as { loc?: acorn.Position }).loc : undefined
    if (place === undefined || !(thrown instanceof SyntaxError)) throw toCompileError(thrown)
    // acorn ends its messages with the place, in columns from 0.
    const message = thrown.message.replace(/ \(\d+:\d+\)$/, '')
    throw new CompileError('SyntaxError', message, { line: place.line, column: place.column + 1 })
  }
}

/** Names that the code does not use. */
function createNames(code: string): Names {
  let base = '$lazaret'
  while (code.includes(base)) base += '_'
  return { value: base, saved: `${base}1`, meta: `${base}2`, check: `${base}3`, module: `${base}4` }
}

/** A statement for the start of the function, and the place of the import that it stands for. */
interface ImportStatement {
  readonly text: string
  readonly position: Position
}

/** Takes imports and exports out; returns the statements that import instead. */
function rewriteDeclarations(
  code: string,
  body: acorn.Program['body'],
  edits: Edits,
  names: Names,
): readonly ImportStatement[] {
  const loads: ImportStatement[] = []
  const bindings: ImportStatement[] = []
  for (const statement of body) {
    if (!isModuleDeclaration(statement)) continue
    const source = sourceOf(statement)
    if (source !== undefined) {
      const name = `${names.module}${loads.length}`
      const position = positionAt(code, statement.start)
      const attributes = 'attributes' in statement ? attributesText(statement.attributes) : ''
      loads.push({ text: `const ${name}=await import(${JSON.stringify(source)}${attributes});`, position })
      bindings.push({ text: bindingsText(statement, source, name, names.check), position })
    }
    takeOut(code, statement, edits, names)
  }
  return [...loads, ...bindings]
}

/** Finds the import that a place in the function's first line belongs to. Runs after guest code: index loops only. */
function createImportFinder(
  headLength: number,
  statements: readonly ImportStatement[],
): (position: Position) => Position | undefined {
  return ({ line, column }) => {
    let end = headLength
    if (line !== 1 || column <= end) return undefined
    for (let index = 0; index < statements.length; index++) {
      const statement = statements[index] as ImportStatement
      end += statement.text.length
      if (column <= end) return statement.position
    }
    return undefined
  }
}

const isModuleDeclaration = (node: acorn.Program['body'][number]): node is ModuleDeclaration =>
  node.type.startsWith('Import') || node.type.startsWith('Export')

function sourceOf(statement: ModuleDeclaration): string | undefined {
  if (statement.type === 'ExportDefaultDeclaration') return undefined
  return statement.source ? String(statement.source.value) : undefined
}

function attributesText(attributes: readonly acorn.ImportAttribute[]): string {
  if (attributes.length === 0) return ''
  const pairs = attributes.map(({ key, value }) => [
    key.type === 'Identifier' ? key.name : key.value,
    value.value,
  ])
  return `,{with:${JSON.stringify(Object.fromEntries(pairs))}}`
}

function bindingsText(statement: ModuleDeclaration, source: string, module: string, check: string): string {
  const wanted: string[] = []
  let text = ''
  for (const specifier of 'specifiers' in statement ? statement.specifiers : []) {
    if (specifier.type === 'ImportNamespaceSpecifier') {
      text += `const ${specifier.local.name}=${module};`
      continue
    }
    const exported = JSON.stringify(importedName(specifier))
    wanted.push(exported)
    if (specifier.type !== 'ExportSpecifier') text += `const ${specifier.local.name}=${module}[${exported}];`
  }
  return wanted.length === 0
    ? text
    : `${check}(${module},${JSON.stringify(source)},[${wanted.join()}]);${text}`
}

function importedName(
  specifier: acorn.ImportSpecifier | acorn.ImportDefaultSpecifier | acorn.ExportSpecifier,
): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  const name = specifier.type === 'ImportSpecifier' ? specifier.imported : specifier.local
  return name.type === 'Identifier' ? name.name : String(name.value)
}

function takeOut(code: string, statement: ModuleDeclaration, edits: Edits, names: Names): void {
  if (statement.type === 'ExportNamedDeclaration' && statement.declaration)
    return edits.blank(statement.start, statement.declaration.start)
  if (statement.type !== 'ExportDefaultDeclaration') return edits.blank(statement.start, statement.end)
  const { declaration } = statement
  const isNamed = 'id' in declaration && declaration.id !== null && declaration.id !== undefined
  if (isNamed && declaration.type.endsWith('Declaration'))
    return edits.blank(statement.start, declaration.start)
  // An expression is the program's value; an anonymous function or class is only evaluated.
  const isValue = !declaration.type.endsWith('Declaration')
  edits.blank(statement.start, declaration.start)
  edits.insert(statement.start, isValue ? `${names.value}=(` : 'void(')
  const hasSemicolon = code[statement.end - 1] === ';'
  edits.insert(hasSemicolon ? statement.end - 1 : statement.end, hasSemicolon ? ')' : ');')
}

/** What is left to record: statements of the program itself. */
function statementsOf(body: acorn.Program['body']): acorn.Program['body'] {
  return body.filter((statement) => !isModuleDeclaration(statement))
}

/** Iterative: the tree is as deep as the guest made it. */
function replaceImportMeta(program: acorn.Program, edits: Edits, name: string): void {
  const waiting: unknown[] = [program]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null) continue
    if (isImportMeta(node)) edits.blank(node.start, node.end, name)
    else waiting.push(...Object.values(node))
  }
}

const isImportMeta = (node: object): node is acorn.MetaProperty =>
  'type' in node && node.type === 'MetaProperty' && (node as acorn.MetaProperty).meta.name === 'import'
