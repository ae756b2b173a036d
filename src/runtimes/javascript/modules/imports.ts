/** The functions that replace static imports and `import.meta` in the guest's program. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { noteFailedImport } from '../broken-files.ts'
import { programName } from './positions.ts'
import { unquote } from './quoted-names.ts'
import { topPosition } from './stack.ts'

/** The parameter of the compiled program, through which it imports. */
export interface Imports {
  readonly meta: object
  readonly load: typeof load
  readonly check: typeof check
  readonly caught: typeof unquote
}

export const createImports = (): Imports => ({ meta: createImportMeta(), load, check, caught: unquote })

/** Awaits a module. If that fails, remembers the position of the import. */
async function load(module: Promise<object>): Promise<object> {
  const here = new Error()
  try {
    return await module
  } catch (thrown) {
    const position = topPosition(here.stack ?? '', 'Error: ')
    if (position !== undefined) noteFailedImport(thrown, position)
    throw thrown
  }
}

/** Throws the engine's error if the module does not export all names. */
function check(module: object, source: string, names: readonly string[]): void {
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (!(name in module))
      throw new SyntaxError(`The requested module '${source}' does not provide an export named '${name}'`)
  }
}

function createImportMeta(): object {
  const dirname = process.cwd()
  const filename = join(dirname, programName)
  const require = createRequire(filename)
  const url = pathToFileURL(filename).href
  const resolve = (specifier: string): string => {
    if (/^\.{0,2}\//.test(specifier)) return new URL(specifier, url).href
    const found = require.resolve(specifier)
    return found.startsWith('/') ? pathToFileURL(found).href : `node:${found.replace(/^node:/, '')}`
  }
  // The last two are Bun's names.
  return { __proto__: null, url, filename, dirname, main: true, resolve, path: filename, dir: dirname }
}
