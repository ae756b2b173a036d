/** What imports, `import()` and `import.meta` of entries become: modules are found from the context's folder. */
import { createImports } from '../modules/imports.ts'

const getBuiltinModule = process.getBuiltinModule.bind(process)

type Import = (source: unknown, options?: object) => Promise<object>

export interface Importer {
  readonly meta: object
  readonly import: Import
  /** Throws what the engine throws when a name is missing. */
  readonly load: (source: string, options: object | undefined, wanted: readonly string[]) => Promise<object>
}

export function createImporter(): Importer {
  const { meta, check } = createImports()
  const load = createImport()
  return {
    meta,
    import: load,
    async load(source, options, wanted) {
      const module = await load(source, options)
      check(module, source, wanted)
      return module
    },
  }
}

/** A script that seems to lie in the folder: what it imports is looked for there. */
function createImport(): Import {
  const { Script, constants } = getBuiltinModule('node:vm')
  const { emitWarning } = process
  const script = new Script('(source,options)=>options===undefined?import(source):import(source,options)', {
    filename: `${process.cwd()}/<code>`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const load = script.runInThisContext() as Import
  // Node says once, when such a script first imports, that the loader is experimental; stderr is the guest's.
  process.emitWarning = () => {}
  try {
    void load('node:vm')
  } finally {
    process.emitWarning = emitWarning
  }
  return load
}
