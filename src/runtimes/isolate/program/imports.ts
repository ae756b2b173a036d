/** Rewrites `import` in programs for isolates, which have libraries to `require` but no modules. */
import type * as acorn from 'acorn'
import { Edits } from '../../javascript/modules/edits.ts'
import { requireAcorn } from '../../javascript/harness-packages.ts'
import type { MapPosition } from '../../javascript/modules/positions.ts'
import { importRefuser } from '../inside/protocol.ts'

/** Converts the result of `require` to a module namespace, by Node's rules for importing CommonJS. */
const namespace =
  '((m)=>Object.create(null,{...Object.getOwnPropertyDescriptors(Object(m)),' +
  'default:{value:m?.__esModule&&"default"in m?m.default:m,enumerable:true}}))'

const check =
  '(m,s,n)=>{for(const k of n)if(!(k in m))throw new SyntaxError' +
  "(`The requested module '${s}' does not provide an export named '${k}'`)}"

const imports = `{__proto__:null,meta:{__proto__:null},lod:${namespace},check:${check},caught(){}}`

/** Completes compiled module code: calls it with its imports. Columns stay the same, because both texts are equally long. */
export function withRequire(text: string): string {
  return `${text.replace(/(\$lazaret_*2)\.load\(import\(/g, '$1.lod(require(')}(${imports})`
}

const options = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowHashBang: true,
} as const

/** `undefined` for code that is not a script, such as code with static imports. */
export const asScript = (code: string): acorn.Program | undefined => tryParse(code, 'script')

function tryParse(code: string, sourceType: 'script' | 'module'): acorn.Program | undefined {
  try {
    return requireAcorn().parse(code, { ...options, sourceType })
  } catch {
    return undefined
  }
}

/** Replaces each `import()` with a call of a function that refuses, whose name has the same length. */
export function refuseImports(code: string, program?: acorn.Program): string {
  if (!/\bimport\b/.test(code)) return code
  const parsed = program ?? asScript(code)
  if (parsed === undefined) return code
  let text = ''
  let from = 0
  for (const start of findImports(parsed)) {
    text += code.slice(from, start) + importRefuser
    from = start + 'import'.length
  }
  return text + code.slice(from)
}

/** Where each `import()` begins. Iterative: the tree is as deep as the guest made it. */
function findImports(program: acorn.Program): number[] {
  const found: number[] = []
  const waiting: unknown[] = [program]
  while (waiting.length > 0) {
    const node = waiting.pop()
    if (typeof node !== 'object' || node === null) continue
    if ('type' in node && node.type === 'ImportExpression') found.push((node as acorn.ImportExpression).start)
    for (const child of Object.values(node)) waiting.push(child)
  }
  return found.sort((left, right) => left - right)
}

/** Rewrites a body with static imports, which are not allowed in a function. `undefined` if it is not a module either. */
export function requireImports(code: string): { source: string; toWritten: MapPosition } | undefined {
  const program = tryParse(code, 'module')
  if (program === undefined) return undefined
  const edits = new Edits(code)
  // Does not insert into a first line that begins with #!.
  const start = code.startsWith('#!') ? (program.body[0]?.start ?? 0) : 0
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration') continue
    edits.blank(statement.start, statement.end)
    edits.insert(start, requireText(statement))
  }
  for (const at of findImports(program)) edits.blank(at, at + importRefuser.length, importRefuser)
  const { text, toBefore } = edits.apply()
  return { source: text, toWritten: toBefore }
}

function requireText({ source, specifiers }: acorn.ImportDeclaration): string {
  const call = `require(${JSON.stringify(source.value)})`
  if (specifiers.length === 0) return `${call};`
  let text = ''
  const names: string[] = []
  for (const specifier of specifiers) {
    const local = specifier.local.name
    if (specifier.type === 'ImportNamespaceSpecifier') text += `const ${local}=${namespace}(${call});`
    else names.push(`${JSON.stringify(importedName(specifier))}:${local}`)
  }
  return names.length === 0 ? text : `${text}const {${names.join()}}=${namespace}(${call});`
}

function importedName(specifier: acorn.ImportSpecifier | acorn.ImportDefaultSpecifier): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  const { imported } = specifier
  return imported.type === 'Identifier' ? imported.name : String(imported.value)
}
