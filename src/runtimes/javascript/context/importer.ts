/** Replaces imports, `import()` and `import.meta` in entries. Modules are resolved from the context's folder. */
import { createImports } from '../modules/imports.ts'

const getBuiltinModule = process.getBuiltinModule.bind(process)

type Import = (source: unknown, options?: object) => Promise<object>

export interface Importer {
  readonly meta: object
  readonly import: Import
  /** Throws the engine's error if the module lacks a wanted name. */
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

/** Creates a script whose file name is in the folder, so that its imports are resolved from there. */
function createImport(): Import {
  const { Script, constants } = getBuiltinModule('node:vm')
  const { emitWarning } = process
  const script = new Script('(source,options)=>options===undefined?import(source):import(source,options)', {
    filename: `${process.cwd()}/<code>`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const load = script.runInThisContext() as Import
  // At the first import of such a script Node warns that the loader is experimental. Stderr belongs to the guest.
  process.emitWarning = () => {}
  try {
    void load('node:vm')
  } finally {
    process.emitWarning = emitWarning
  }
  return load
}
