/** Where compiled code runs: the interface, and the realm that guests share with the harness. */
import type { Script } from 'node:vm'
import { programName, programPath } from '../modules/positions.ts'

export interface Realm {
  readonly createScript: (text: string) => () => unknown
  /** Runs what a script has given: a function that wants its imports. Absent where these are the harness's to give. */
  readonly startModule?: (main: unknown) => unknown
  /** Whether `eval` in the harness is as good as a script. */
  readonly canEvaluate: boolean
}

const isBun = process.versions['bun'] !== undefined
const getBuiltinModule = process.getBuiltinModule.bind(process)

/** The one that the harness is in too. */
export const ownRealm: Realm = {
  canEvaluate: isBun,
  createScript(text) {
    const script = createScript(text)
    return () => script.runInThisContext({ displayErrors: false })
  },
}

/** Only where `import()` may occur does the engine need to know how to resolve it. */
function createScript(text: string): Script {
  const { Script, constants } = getBuiltinModule('node:vm')
  if (!text.includes('import')) return new Script(text, { filename: programName })
  const importing = {
    // Resolves as a module in the working directory would: not as the main one, and not from the root.
    filename: programPath,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }
  silenceLoaderWarning(() => new Script('import("node:vm")', importing).runInThisContext())
  return new Script(text, importing)
}

let isLoaderSilent = isBun

/** Node says once, when such a script first imports, that the loader is experimental; stderr is the guest's. */
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
