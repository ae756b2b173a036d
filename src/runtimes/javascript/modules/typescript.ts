/**
 * Compiles TypeScript to JavaScript with oxc. Deeply nested code crashes oxc's native parser with a stack overflow. This is
 * one reason to compile in the guest's process and not on the host.
 */
import type * as oxc from 'oxc-transform'
import { installDecoratorHelpers } from './decorators.ts'
import { CompileError } from '../errors.ts'
import { requirePackage } from '../harness-packages.ts'
import { type MapPosition, positionAt } from './positions.ts'
import { createSourceMapReader } from './source-map.ts'

type Oxc = Pick<typeof oxc, 'transformSync'>

export interface JavaScriptCode {
  readonly text: string
  readonly toWritten: MapPosition
  /** Whether the compiler added statements, whose values must not become the program's value. */
  readonly hasAddedStatements: boolean
}

let oxcLoaded: Oxc | undefined

// oxc's output for a module that imports only types ends with this.
const emptyExport = 'export {};'

/**
 * Compiles a program, which has no file name that tells its language. `keepsImports` keeps unused imports, because later
 * entries of a context may use them.
 */
export const compileTypeScript = (
  code: string,
  { keepsImports = false }: { readonly keepsImports?: boolean } = {},
): JavaScriptCode =>
  compile('code.ts', code, {
    lang: 'ts',
    sourceType: 'module',
    ...(keepsImports ? { typescript: { onlyRemoveTypeImports: true } } : {}),
  })

/** Compiles a file of the workspace or of a package. Its name tells the language. Throws a `CompileError`. */
export const compileFile = (path: string, code: string): JavaScriptCode => compile(path, code, {})

function compile(name: string, code: string, options: oxc.TransformOptions): JavaScriptCode {
  oxcLoaded ??= loadOxc()
  const result = oxcLoaded.transformSync(name, code, {
    ...options,
    sourcemap: true,
    decorator: { legacy: true },
    // Without this, a decorator becomes a require() of a package that the guest does not have.
    helpers: { mode: 'External' as unknown as oxc.HelperMode },
  })
  const error = result.errors.find(({ severity }) => (severity as string) === 'Error')
  if (error !== undefined) throw toSyntaxError(code, error.message, error.labels[0]?.start)
  const hasDecorators = result.code.includes('babelHelpers.')
  if (hasDecorators) installDecoratorHelpers()
  return {
    text: withoutEmptyExport(result.code),
    toWritten: createSourceMapReader(result.map?.mappings ?? ''),
    // A namespace ends in `})(N || (N = {}));`.
    hasAddedStatements: hasDecorators || result.code.includes(' = {}));'),
  }
}

/** Loads the platform's binding directly, which takes a quarter of the time of the package's search for it. */
function loadOxc(): Oxc {
  try {
    return requirePackage(`@oxc-transform/binding-${process.platform}-${process.arch}-gnu`) as Oxc
  } catch {
    return requirePackage('oxc-transform') as Oxc
  }
}

/** oxc counts bytes of UTF-8. */
function toSyntaxError(code: string, message: string, byteOffset: number | undefined): CompileError {
  if (byteOffset === undefined) return new CompileError('SyntaxError', message)
  const before = new TextDecoder().decode(new TextEncoder().encode(code).subarray(0, byteOffset))
  return new CompileError('SyntaxError', message, positionAt(code, before.length))
}

function withoutEmptyExport(text: string): string {
  const end = text.trimEnd()
  return end.endsWith(emptyExport) ? end.slice(0, -emptyExport.length) : text
}
