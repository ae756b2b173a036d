/**
 * Modules of the workspace in Node. Node itself only strips types, and refuses enums, namespaces, parameter properties,
 * decorators and JSX; here such files are compiled as the program is. Node also refuses file names that TypeScript
 * programs leave to their compiler (`./a` and `./a.js` for `a.ts`); here they are found as Bun finds them. Bun needs
 * none of this: its own transpiler and `bun-tsconfig.json` do the same. Loading this module is what installs it.
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
// Unlike an assignment, it does not throw where the guest has frozen things.
const setProperty = Reflect.set
const plain = /\.[cm]?js$/
const compiled = /\.(?:[cm]?ts|[jt]sx)$/
// Bun's order.
const extensions = ['.tsx', '.jsx', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']
/** What a file may have been before it was compiled to one with such a name. */
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
    // Enough for the frames of hooks, so that the guest's are among them.
    setProperty(Error, 'stackTraceLimit', framesMax)
    return next(specifier, context)
  } catch (thrown) {
    const isRequire = context.conditions.includes('require')
    const meant = meantPath(specifier, context.parentURL, isRequire)
    const found = meant === undefined ? undefined : findSource(meant)
    if (found === undefined) throw thrown
    return next(isRequire ? found : getBuiltinModule('node:url').pathToFileURL(found).href, context)
  } finally {
    setProperty(Error, 'stackTraceLimit', stackTraceLimit)
  }
}

/** `undefined` for everything but relative and absolute names of files. */
function meantPath(specifier: string, parent: string | undefined, isRequire: boolean): string | undefined {
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

/** A file that a name without, or with another, extension may mean. */
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

/** As Node itself decides it: what does not compile as CommonJS is a module. */
function isCommon(source: string): boolean {
  try {
    getBuiltinModule('node:vm').compileFunction(source, commonParameters)
    return true
  } catch {
    return false
  }
}

getBuiltinModule('node:module').registerHooks({ resolve, load })
