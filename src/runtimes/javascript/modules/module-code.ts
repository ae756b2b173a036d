/**
 * The slow path: code with top-level `await`, static imports or exports becomes the body of an async function that
 * returns the completion value. Lines keep their numbers.
 */
import type * as acorn from 'acorn'
import { recordCompletion, type Rewrite } from './completion.ts'
import { Edits } from './edits.ts'
import { CompileError, toCompileError, tooDeep } from '../errors.ts'
import { createImports, type Imports } from './imports.ts'
import { requireAcorn } from '../harness-packages.ts'
import { declareLive, type LiveNames, readLive } from './live-bindings.ts'
import { type MapPosition, type Position, positionAt, skipOnFirstLine, strictPrefix } from './positions.ts'
import { setLiveName } from './quoted-names.ts'

export interface FunctionCode {
  /** An expression: a function, usually async, that takes its `Imports`. */
  readonly text: string
  readonly toBefore: MapPosition
}

interface ModuleRewrite extends Rewrite {
  readonly names: Rewrite['names'] &
    LiveNames & {
      /** The parameter of the function. */
      readonly imports: string
      /** The prefix of the variables that hold modules. */
      readonly module: string
    }
}

type ModuleDeclaration =
  | acorn.ImportDeclaration
  | acorn.ExportNamedDeclaration
  | acorn.ExportDefaultDeclaration
  | acorn.ExportAllDeclaration

/** Throws a `CompileError` with the position. Only code without top-level `await` can become a plain function. */
export function compileModule(code: string, { isAsync }: { readonly isAsync: boolean }): FunctionCode {
  const program = parseModule(code)
  const rewrite = { code, edits: new Edits(code), names: createNames(code) }
  const { edits, names } = rewrite
  const { statements, live } = rewriteDeclarations(program.body, rewrite)
  recordCompletion(
    program.body.filter((statement) => !isModuleDeclaration(statement)),
    rewrite,
  )
  // After `recordCompletion`: at the start of a statement, these insertions must follow those that record its value.
  if (code.includes('import')) replaceImportMeta(program, edits, `${names.imports}.meta`)
  if (live.size > 0) {
    readLive(program, new Set(live.keys()), rewrite)
    setLiveName(names.live)
  }
  const { text, toBefore } = edits.apply()
  const head = `(${isAsync ? 'async' : ''}(${names.imports})=>{${strictPrefix}let ${names.value};`
  const prefix = head + statements.map((statement) => statement.text).join('')
  const skipPrefix = skipOnFirstLine(prefix.length)
  const findImport = createImportFinder(head.length, statements)
  return {
    text: `${prefix}${text}\n;return ${names.value}})`,
    toBefore: (position) => findImport(position) ?? toBefore(skipPrefix(position)),
  }
}

/** Calls the function that the compiled expression evaluates to. */
export function startModule(main: unknown): unknown {
  return (main as (imports: Imports) => unknown)(createImports())
}

function parseModule(code: string): acorn.Program {
  try {
    return requireAcorn().parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true })
  } catch (thrown) {
    const place = thrown instanceof SyntaxError ? (thrown as { loc?: acorn.Position }).loc : undefined
    if (place === undefined || !(thrown instanceof SyntaxError)) throw toCompileError(thrown)
    if (thrown.message.includes('stack space')) throw tooDeep()
    // acorn appends the position to its messages, with columns from 0.
    const message = thrown.message.replace(/ \(\d+:\d+\)$/, '')
    throw new CompileError('SyntaxError', message, { line: place.line, column: place.column + 1 })
  }
}

/** Creates names that do not occur in the code. */
function createNames(code: string): ModuleRewrite['names'] {
  let base = '$lazaret'
  while (code.includes(base)) base += '_'
  const imports = `${base}2`
  return {
    value: base,
    saved: `${base}1`,
    imports,
    module: `${base}3`,
    live: `${base}4`,
    caught: `${imports}.caught`,
  }
}

/** A statement at the start of the function, and the position of the import that it replaces. */
interface ImportStatement {
  readonly text: string
  readonly position: Position
}

/** Removes imports and exports from the code. Returns the statements that replace them. */
function rewriteDeclarations(
  body: acorn.Program['body'],
  rewrite: ModuleRewrite,
): {
  readonly statements: readonly ImportStatement[]
  /** The code that reads each imported name, whose value may change after the import. */
  readonly live: ReadonlyMap<string, string>
} {
  const { code, names } = rewrite
  const loads: ImportStatement[] = []
  const bindings: ImportStatement[] = []
  const live = new Map<string, string>()
  for (const statement of body) {
    if (!isModuleDeclaration(statement)) continue
    const source = sourceOf(statement)
    if (source !== undefined) {
      const module = `${names.module}${loads.length}`
      const position = positionAt(code, statement.start)
      const attributes = 'attributes' in statement ? attributesText(statement.attributes) : ''
      loads.push({
        text: `const ${module}=await ${names.imports}.load(import(${JSON.stringify(source)}${attributes}));`,
        position,
      })
      const { wanted, text } = bindingsOf(statement, module)
      const check =
        wanted.length === 0
          ? ''
          : `${names.imports}.check(${module},${JSON.stringify(source)},[${wanted.join()}]);`
      bindings.push({ text: check + text, position })
      addReads(statement, module, live)
    }
    removeDeclaration(statement, rewrite)
  }
  const getters: ImportStatement[] =
    live.size === 0 ? [] : [{ text: declareLive(live, names), position: { line: 1, column: 1 } }]
  return { statements: [...loads, ...bindings, ...getters], live }
}

/** Finds the import to which a position in the function's first line belongs. Runs after guest code: index loops only. */
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

/** The quoted names that the module must export, and the declarations of the local names. */
function bindingsOf(
  statement: ModuleDeclaration,
  module: string,
): { readonly wanted: readonly string[]; readonly text: string } {
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
  return { wanted, text }
}

/** Adds the code that reads each imported name from its module. */
function addReads(statement: ModuleDeclaration, module: string, live: Map<string, string>): void {
  if (statement.type !== 'ImportDeclaration') return
  for (const specifier of statement.specifiers) {
    if (specifier.type === 'ImportNamespaceSpecifier') continue
    live.set(specifier.local.name, `${module}[${JSON.stringify(importedName(specifier))}]`)
  }
}

function importedName(
  specifier: acorn.ImportSpecifier | acorn.ImportDefaultSpecifier | acorn.ExportSpecifier,
): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  const name = specifier.type === 'ImportSpecifier' ? specifier.imported : specifier.local
  return name.type === 'Identifier' ? name.name : String(name.value)
}

function removeDeclaration(statement: ModuleDeclaration, { code, edits, names }: ModuleRewrite): void {
  if (statement.type === 'ExportNamedDeclaration' && statement.declaration)
    return edits.blank(statement.start, statement.declaration.start)
  if (statement.type !== 'ExportDefaultDeclaration') return edits.blank(statement.start, statement.end)
  const { declaration } = statement
  const isNamed = 'id' in declaration && declaration.id !== null && declaration.id !== undefined
  if (isNamed && declaration.type.endsWith('Declaration'))
    return edits.blank(statement.start, declaration.start)
  // A default-exported expression is the program's value. An anonymous function or class is only evaluated.
  const isValue = !declaration.type.endsWith('Declaration')
  edits.blank(statement.start, declaration.start)
  edits.insert(statement.start, isValue ? `${names.value}=(` : 'void(')
  const hasSemicolon = code[statement.end - 1] === ';'
  edits.insert(hasSemicolon ? statement.end - 1 : statement.end, hasSemicolon ? ')' : ');')
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
