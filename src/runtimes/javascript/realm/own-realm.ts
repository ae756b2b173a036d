/** The interface of a realm, in which compiled code runs, and the realm that the guest shares with the harness. */
import type { Script } from 'node:vm'
import { programName, programPath } from '../modules/positions.ts'

export interface Realm {
  readonly createScript: (text: string) => () => unknown
  /** Calls the function that a compiled module evaluates to. If absent, the harness calls it with its own `Imports`. */
  readonly startModule?: (main: unknown) => unknown
  /** Whether `eval` in the harness may replace a script. */
  readonly canEvaluate: boolean
}

const isBun = process.versions['bun'] !== undefined
const getBuiltinModule = process.getBuiltinModule.bind(process)

/** The realm of the harness. */
export const ownRealm: Realm = {
  canEvaluate: isBun,
  createScript(text) {
    const script = createScript(text)
    return () => script.runInThisContext({ displayErrors: false })
  },
}

/** The engine needs to know how to resolve `import()` only if the code may contain it. */
function createScript(text: string): Script {
  const { Script, constants } = getBuiltinModule('node:vm')
  if (!text.includes('import')) return new Script(text, { filename: programName })
  const importing = {
    // Imports are resolved as in a module in the working directory.
    filename: programPath,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }
  silenceLoaderWarning(() => new Script('import("node:vm")', importing).runInThisContext())
  return new Script(text, importing)
}

let isLoaderSilent = isBun

/** At the first import of such a script Node warns that the loader is experimental. Stderr belongs to the guest. */
function silenceLoaderWarning(warn: () => void): void {
  if (isLoaderSilent) return
  isLoaderSilent = true
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    warn()
  } finally {
    process.emitWarning = emitWarning
  }
}
