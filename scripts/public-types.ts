/**
 * Declarations as users see them: one file for each public entry, with what it exports and what that needs. What entries
 * have in common is in `types/`. No declaration of a part that nobody can import is left.
 */
import { existsSync, globSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

/** Rolls up those of a build, in place. `entries` are the package's own, as its manifest has them. */
export async function rollUpTypes(build: string, entries: readonly string[]): Promise<void> {
  const input = Object.fromEntries(
    entries.map((entry) => {
      const path = relative('dist', entry)
      return [path.replace(/\.d\.ts$/, ''), join(build, path)]
    }),
  )
  const declarations = globSync('**/*.d.ts', { cwd: build }).map((path) => join(build, path))
  // They are there already: nothing is generated, so no configuration of a compiler is read.
  const plugins = [resolveDeclarations, dts({ dtsInput: true, generator: 'oxc', tsconfig: false })]
  await using bundle = await rolldown({ input, plugins, external: isOfPackage, checks: quiet })
  const { output } = await bundle.write({ dir: build, format: 'es', chunkFileNames: 'types/[name].d.ts' })
  const written = output.map(({ fileName }) => join(build, fileName))
  for (const file of declarations) if (!written.includes(file)) rmSync(file)
}

/** A build on a busy machine has nothing to say about its own time. */
const quiet = { pluginTimings: false }

/** Those of other packages are for whoever has these. */
function isOfPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !isAbsolute(specifier)
}

/** Declarations name sources (`./one.ts`), as the sources do. */
const resolveDeclarations: Plugin = {
  name: 'resolve-declarations',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return undefined
    const file = join(dirname(importer), specifier.replace(/\.[jt]s$/, '.d.ts'))
    return existsSync(file) ? file : undefined
  },
}
