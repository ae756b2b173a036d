/**
 * TypeScript to JavaScript by oxc. Its native parser dies of a stack overflow on deeply nested code, which is one reason
 * why this happens in the guest's process and not in the host.
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
  /** Whether the compiler added statements whose values are not the program's. */
  readonly hasAddedStatements: boolean
}

let oxcLoaded: Oxc | undefined

// What oxc leaves of a module whose imports were all types.
const emptyExport = 'export {};'

/**
 * The program, whose language the file name cannot tell. With `keepsImports` what it imports and does not use stays: what
 * comes after it may.
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

/** A file of the workspace or a package, in the language that its name says. Throws a `CompileError`. */
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

/** The platform's own binding loads in a quarter of the time that the package's search for it takes. */
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
