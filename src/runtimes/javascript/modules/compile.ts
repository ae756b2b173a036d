/**
 * Compiles the guest's code. Most code runs as a strict block, whose completion value the engine itself computes. Code with
 * syntax that only modules allow takes the slow path of `module-code.ts`.
 */
import type { GuestRequest } from '../../channel/channel-protocol.ts'
import { CompileError, toCompileError } from '../errors.ts'
import { ownRealm, type Realm } from '../realm/own-realm.ts'
import { type MapPosition, programName, skipOnFirstLine, strictPrefix } from './positions.ts'

export interface Program {
  /** Runs the program. Returns its completion value, or a promise of it. */
  readonly start: () => unknown
  readonly toWritten: MapPosition
}

interface Source {
  readonly realm: Realm
  readonly text: string
  readonly toWritten: MapPosition
  readonly hasAddedStatements: boolean
}

/** In a block, declarations are local to the program, as in a module, and engines access them faster than globals. */
const blockPrefix = `${strictPrefix}{`

// A cheap test. A match in a string or a comment does little harm: an error then has acorn's message, not the engine's.
const moduleWord = /\b(?:await|import|export)\b/

/** In a block, `var` would declare a property of the global object, and loops with it would be up to ten times slower. */
const varWord = /\bvar\b/

/** Throws a `CompileError` with the place in the code as written. */
export async function compileProgram(
  { language, code }: GuestRequest,
  realm: Realm = ownRealm,
): Promise<Program> {
  const compiled = language === 'typescript' ? await compileTypeScript(code) : asWritten(code)
  const source = { ...compiled, realm }
  if (source.hasAddedStatements) return compileFunction(source, { isAsync: true })
  if (isFastInEval(source)) {
    const text = `${inBlock(source)}\n//# sourceURL=${programName}`
    return { start: () => evaluate(text), toWritten: mapAfter(blockPrefix, source) }
  }
  if (!isScript(source.text)) {
    const engineError = moduleWord.test(source.text)
      ? undefined
      : errorOf(() => realm.createScript(inBlock(source)))
    return compileFunction(source, { isAsync: true, engineError })
  }
  if (varWord.test(code)) {
    const program = await compileFunction(source, { isAsync: false }).catch(() => undefined)
    if (program !== undefined) return program
  }
  return compileScript(source)
}

function inBlock({ text }: Source): string {
  return `${blockPrefix}${text}\n}`
}

function compileScript(source: Source): Promise<Program> | Program {
  try {
    const start = source.realm.createScript(inBlock(source))
    return { start, toWritten: mapAfter(blockPrefix, source) }
  } catch {
    // A script may declare two functions of one name; a block may not.
  }
  try {
    const start = source.realm.createScript(`${strictPrefix}${source.text}`)
    return { start, toWritten: mapAfter(strictPrefix, source) }
  } catch (engineError) {
    return compileFunction(source, { isAsync: true, engineError })
  }
}

function mapAfter(prefix: string, source: Source): MapPosition {
  const skipPrefix = skipOnFirstLine(prefix.length)
  return (position) => source.toWritten(skipPrefix(position))
}

function errorOf(compile: () => void): unknown {
  try {
    compile()
    return undefined
  } catch (thrown) {
    return thrown
  }
}

async function compileTypeScript(code: string): Promise<Omit<Source, 'realm'>> {
  const typescript = await import('./typescript.ts')
  const compiled = typescript.compileTypeScript(code)
  return { ...compiled, text: withoutHashbang(compiled.text) }
}

const asWritten = (code: string): Omit<Source, 'realm'> => ({
  text: withoutHashbang(code),
  toWritten: (position) => position,
  hasAddedStatements: false,
})

/** `#!` is allowed only at the very start of a file, and a prefix is added before it. */
const withoutHashbang = (text: string): string => (text.startsWith('#!') ? `//${text.slice(2)}` : text)

/** Whether the engine accepts the code as a script, with no `await` outside of functions. */
const isScript = (text: string): boolean => canCompile(asScript(text))

// A static block allows what a script allows, except `await`, also as a variable's name.
const asScript = (text: string): string => `${strictPrefix}(class{static{${text}\n}})`

function canCompile(functionBody: string): boolean {
  try {
    createFunction(functionBody)
    return true
  } catch {
    return false
  }
}

/** The slow path: the program becomes the body of a function. */
async function compileFunction(
  source: Source,
  { isAsync, engineError }: { readonly isAsync: boolean; readonly engineError?: unknown },
): Promise<Program> {
  const { compileModule, startModule } = await import('./module-code.ts')
  try {
    const { text, toBefore } = compileModule(source.text, { isAsync })
    const { realm } = source
    const main = realm.createScript(text)
    const startMain = realm.startModule ?? startModule
    return {
      start: () => startMain(main()),
      toWritten: (position) => source.toWritten(toBefore(position)),
    }
  } catch (thrown) {
    const { name, message, position } = thrown instanceof CompileError ? thrown : toCompileError(thrown)
    // The engine's message is clearer, but only acorn knows the column. An error without a position is not about syntax.
    const usesEngineMessage = engineError !== undefined && position !== undefined
    throw new CompileError(
      name,
      usesEngineMessage ? toCompileError(engineError).message : message,
      position && source.toWritten(position),
    )
  }
}

/**
 * Bun needs more than a millisecond to load `node:vm`, and `eval` gives the same value. But in evaluated code, Bun's engine
 * looks up each use of a `var` by name, which is a hundred times slower, runs array destructuring in its slowest tier, and
 * resolves `import()` relative to the harness.
 */
function isFastInEval({ text, realm }: Source): boolean {
  if (!realm.canEvaluate || text.length > evalCharactersMax || slowInEval.test(text)) return false
  // Syntax errors must be found before the code runs, both as a script and as a block. One parse for both is faster.
  return canCompile(`${asScript(text)};{${text}\n}`)
}

/** Code that is slow in `eval`, and syntax of modules, which `compileProgram` handles in other ways. */
const slowInEval = /\b(?:var|import|export|await|target)\b|\]\s*=[^=>]/
/** For longer code, the additional parse takes as long as loading `node:vm`. */
const evalCharactersMax = 32 * 1024
// An indirect `eval` evaluates in the global scope.
// oxlint-disable-next-line no-eval -- this is the inside of a cell: running the guest's code is its purpose.
const evaluate = eval
const createFunction = Function
