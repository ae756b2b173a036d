/**
 * Turns the guest's code into something that can be started. Most code is run as a strict block, whose completion value
 * the engine itself gives; code that only a module may hold takes the slow road of `module-code.ts`.
 */
import type { GuestRequest } from '../../channel/channel-protocol.ts'
import { CompileError, toCompileError } from '../errors.ts'
import { ownRealm, type Realm } from '../realm/own-realm.ts'
import { type MapPosition, programName, skipOnFirstLine, strictPrefix } from './positions.ts'

export interface Program {
  /** Runs the program; gives its completion value, or a promise of it. */
  readonly start: () => unknown
  readonly toWritten: MapPosition
}

interface Source {
  readonly realm: Realm
  readonly text: string
  readonly toWritten: MapPosition
  readonly hasAddedStatements: boolean
}

/** What a program declares is its own, as in a module, and engines are faster at it than at what is global. */
const blockPrefix = `${strictPrefix}{`

// Cheap, and wrong only in the safe direction: the words may stand in a string or a comment.
const moduleWord = /\b(?:await|import|export)\b/

/** In a block it would be a property of the global object, and a loop over it up to ten times slower. */
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

/** `#!` is only allowed as the very first characters, and ours come before it. */
const withoutHashbang = (text: string): string => (text.startsWith('#!') ? `//${text.slice(2)}` : text)

/** Whether the engine accepts it as a script and no `await` is outside of a function. */
const isScript = (text: string): boolean => canCompile(asScript(text))

// A static block allows what a script allows, but neither an `await` of its own nor a variable of that name.
const asScript = (text: string): string => `${strictPrefix}(class{static{${text}\n}})`

function canCompile(functionBody: string): boolean {
  try {
    createFunction(functionBody)
    return true
  } catch {
    return false
  }
}

/** The slow road: the program becomes the body of a function. */
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
    // Engines word it better, and only acorn knows the column; without a place it was not about a token.
    const isWorded = engineError !== undefined && position !== undefined
    throw new CompileError(
      name,
      isWorded ? toCompileError(engineError).message : message,
      position && source.toWritten(position),
    )
  }
}

/**
 * Bun needs more than a millisecond to load `node:vm`, and `eval` gives the same value. But its engine looks a `var`
 * of evaluated code up by name each time, a hundred times slower, takes lists apart in its slowest tier, and `import()`
 * there would start from the harness.
 */
function isFastInEval({ text, realm }: Source): boolean {
  if (!realm.canEvaluate || text.length > evalCharactersMax || slowInEval.test(text)) return false
  // What does not compile must be known before it runs: as a script, and as a block. One parse of both is faster.
  return canCompile(`${asScript(text)};{${text}\n}`)
}

/** And what is for modules only, which goes its own way. */
const slowInEval = /\b(?:var|import|export|await|target)\b|\]\s*=[^=>]/
/** Parsing more than this once again takes as long as loading `node:vm`. */
const evalCharactersMax = 32 * 1024
// Called by another name than `eval`, it evaluates in the global scope.
// oxlint-disable-next-line no-eval -- this is the inside of a cell: running the guest's code is its purpose.
const evaluate = eval
const createFunction = Function
