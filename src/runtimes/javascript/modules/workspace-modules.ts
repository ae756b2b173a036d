/**
 * Module hooks for workspace files in Node. Node itself only strips types: it refuses enums, namespaces, parameter
 * properties, decorators and JSX. The hooks compile such files in the same way as the program. Node also refuses imports
 * that TypeScript programs leave to their compiler (`./a` and `./a.js` for `a.ts`). The hooks resolve them as Bun does. Bun
 * does all this itself, with its transpiler and `bun-tsconfig.json`. Loading this module installs the hooks.
 */
import type { registerHooks } from 'node:module'
import { stringStartsWith } from '../../../core/primordials.ts'
import { languageStack, noteLoading } from '../broken-files.ts'
import { keepCompiledFile } from './compiled-files.ts'
import { CompileError } from '../errors.ts'
import { compileFile } from './typescript.ts'
import { installWorkerHooks } from './worker-modules.ts'

type Resolve = Parameters<typeof registerHooks>[0]['resolve'] & {}
type Load = Parameters<typeof registerHooks>[0]['load'] & {}

// Most programs import no file, and each of Node's modules that is loaded costs start time.
const getBuiltinModule = process.getBuiltinModule.bind(process)
// Unlike an assignment, it does not throw if the guest has frozen the object.
const setProperty = Reflect.set
const plain = /\.[cm]?js$/
const compiled = /\.(?:[cm]?ts|[jt]sx)$/
// Bun's order.
const extensions = ['.tsx', '.jsx', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']
/** The extensions of sources that compile to a file with this extension. */
const sourceExtensions: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
}
const workerModule = /^(?:node:)?worker_threads$/
const framesMax = 64
const commonParameters = ['exports', 'require', 'module', '__filename', '__dirname']

const resolve: Resolve = (specifier, context, next) => {
  if (workerModule.test(specifier)) installWorkerHooks()
  const { stackTraceLimit } = Error
  try {
    // Enough for the frames of the hooks and the guest's.
    setProperty(Error, 'stackTraceLimit', framesMax)
    return next(specifier, context)
  } catch (thrown) {
    const isRequire = context.conditions.includes('require')
    const path = pathOf(specifier, context.parentURL, isRequire)
    const found = path === undefined ? undefined : findSource(path)
    if (found === undefined) throw thrown
    return next(isRequire ? found : getBuiltinModule('node:url').pathToFileURL(found).href, context)
  } finally {
    setProperty(Error, 'stackTraceLimit', stackTraceLimit)
  }
}

/** The path of a relative or absolute file name. `undefined` for other specifiers. */
function pathOf(specifier: string, parent: string | undefined, isRequire: boolean): string | undefined {
  const isRelative = /^\.{0,2}\//.test(specifier)
  if (!isRelative && !stringStartsWith(specifier, 'file:')) return undefined
  const { fileURLToPath, pathToFileURL } = getBuiltinModule('node:url')
  const path = getBuiltinModule('node:path')
  try {
    const from = parent ?? pathToFileURL(`${process.cwd()}/`).href
    return isRequire
      ? path.resolve(path.dirname(fileURLToPath(from)), specifier)
      : fileURLToPath(new URL(specifier, from))
  } catch {
    // The parent is not a file, or the name is not a URL.
    return undefined
  }
}

/** The file that an import without an extension, or with that of the compiled file, refers to. */
function findSource(path: string): string | undefined {
  const [extension = ''] = /\.[cm]?jsx?$/.exec(path) ?? []
  const sources = (sourceExtensions[extension] ?? []).map((end) => path.slice(0, -extension.length) + end)
  const named = extensions.map((end) => path + end)
  const inside = extensions.map((end) => `${path}/index${end}`)
  return [...sources, ...named, ...inside].find(isFile)
}

const isFile = (path: string): boolean =>
  getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.isFile() === true

const load: Load = (url, context, next) => {
  if (!stringStartsWith(url, 'file:')) return next(url, context)
  if (!compiled.test(url)) {
    if (plain.test(url)) noteLoading(url)
    return next(url, context)
  }
  const source = compileOrThrow(url)
  const isModule = stringStartsWith(context.format ?? '', 'module') || !isCommon(source)
  return { format: isModule ? 'module' : 'commonjs', source, shortCircuit: true }
}

function compileOrThrow(url: string): string {
  const path = getBuiltinModule('node:url').fileURLToPath(url)
  const written = getBuiltinModule('node:fs').readFileSync(path, 'utf8')
  try {
    const { text, toWritten } = compileFile(path, written)
    keepCompiledFile([path, url], { path, toWritten })
    return text
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown
    const { message, position } = thrown
    const error = new SyntaxError(message)
    if (position !== undefined) {
      const place = `${path}:${position.line}:${position.column}`
      error.stack = `${languageStack(error.stack, { engineName: 'SyntaxError', message, place }) as string}`
    }
    throw error
  }
}

/** Node's own rule: code that does not compile as CommonJS is a module. */
function isCommon(source: string): boolean {
  try {
    getBuiltinModule('node:vm').compileFunction(source, commonParameters)
    return true
  } catch {
    return false
  }
}

getBuiltinModule('node:module').registerHooks({ resolve, load })
