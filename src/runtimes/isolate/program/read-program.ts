/**
 * Converts a program to code that an isolate can run. This happens in the Node process around the isolate. TypeScript becomes
 * JavaScript, static imports become `require`, and `import()` becomes a call that refuses. Except for TypeScript, lines keep
 * their numbers.
 */
import { compileProgram } from '../../javascript/modules/compile.ts'
import { CompileError } from '../../javascript/errors.ts'
import type { Realm } from '../../javascript/realm/own-realm.ts'
import { type MapPosition, programName } from '../../javascript/modules/positions.ts'
import type { IsolateProgram } from '../inside/protocol.ts'
import { asScript, refuseImports, requireImports, withRequire } from './imports.ts'
import { compileBody } from './typescript-body.ts'

export interface WrittenProgram {
  readonly code: string
  readonly language: 'javascript' | 'typescript'
  readonly mode: IsolateProgram['mode']
}

export interface ReadProgram {
  readonly source: string
  /** Maps a position in a stack to the position in the code as written. */
  readonly toWritten: MapPosition
}

export interface ProgramSyntaxError {
  readonly name: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}

/** Reads a program that runs as written, as most do. Returns `undefined` for others. */
export function readAsWritten({ code, language, mode }: WrittenProgram): ReadProgram | undefined {
  return mode === 'service' && language === 'javascript' && !code.includes('import')
    ? readJavaScriptBody(code)
    : undefined
}

/** Does not find syntax errors of a JavaScript body, which is compiled only in the isolate. */
export async function readProgram(program: WrittenProgram): Promise<ReadProgram | ProgramSyntaxError> {
  try {
    return await (program.mode === 'run' ? readScript(program) : readBody(program))
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown
    const { name, message, position } = thrown
    return { name, message, ...position }
  }
}

/** Reads a script. As in the other runtimes, its evaluation returns the completion value or a promise of it. */
async function readScript({ code, language }: WrittenProgram): Promise<ReadProgram> {
  const request = { language, code, args: [], resultBytes: 0 }
  const { start, toWritten } = await compileProgram(request, textRealm)
  return { source: refuseImports(start() as string), toWritten }
}

/** Returns the text of a script instead of evaluating it. */
const textRealm: Realm = {
  canEvaluate: false,
  createScript(text) {
    const { Script } = process.getBuiltinModule('node:vm')
    void new Script(text, { filename: programName })
    return () => text
  },
  startModule: (text) => withRequire(text as string),
}

async function readBody({ code, language }: WrittenProgram): Promise<ReadProgram> {
  if (language === 'javascript') return readJavaScriptBody(code)
  const { text, toWritten } = await compileBody(code)
  const { source, toWritten: toCompiled } = readJavaScriptBody(text)
  return { source, toWritten: (position) => toWritten(toCompiled(position)) }
}

function readJavaScriptBody(code: string): ReadProgram {
  const unchanged = { source: code, toWritten: (position: Parameters<MapPosition>[0]) => position }
  if (!code.includes('import')) return unchanged
  const script = asScript(code)
  if (script !== undefined) return { ...unchanged, source: refuseImports(code, script) }
  return requireImports(code) ?? unchanged
}
