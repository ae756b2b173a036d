/**
 * The declarations that users get: one file for each public entry, with its exports and what they need. What entries
 * share is in `types/`. Declarations of parts that nobody can import are removed.
 */
import { existsSync, globSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

/** Bundles the declarations of a build in place. `entries` are the package's own, from its manifest. */
export async function rollUpTypes(build: string, entries: readonly string[]): Promise<void> {
  const input = Object.fromEntries(
    entries.map((entry) => {
      const path = relative('dist', entry)
      return [path.replace(/\.d\.ts$/, ''), join(build, path)]
    }),
  )
  const declarations = globSync('**/*.d.ts', { cwd: build }).map((path) => join(build, path))
  // The declarations exist already, so no compiler configuration is needed.
  const plugins = [resolveDeclarations, dts({ dtsInput: true, generator: 'oxc', tsconfig: false })]
  await using bundle = await rolldown({ input, plugins, external: isOfPackage, checks: quiet })
  const { output } = await bundle.write({ dir: build, format: 'es', chunkFileNames: 'types/[name].d.ts' })
  const written = output.map(({ fileName }) => join(build, fileName))
  for (const file of declarations) if (!written.includes(file)) rmSync(file)
}

/** Suppresses warnings about the duration of the build. */
const quiet = { pluginTimings: false }

/** Imports of other packages stay imports. */
function isOfPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !isAbsolute(specifier)
}

/** Imports in declarations end in `.ts`, as in the sources. */
const resolveDeclarations: Plugin = {
  name: 'resolve-declarations',
  resolveId(specifier, importer) {
    if (importer === undefined || !specifier.startsWith('.')) return undefined
    const file = join(dirname(importer), specifier.replace(/\.[jt]s$/, '.d.ts'))
    return existsSync(file) ? file : undefined
  },
}
