/**
 * The command as a few files: it loads most of the engine, and finding, reading and linking hundreds of small modules takes
 * longer than most runs. What only some commands need stays in files of its own, imported when it is needed. Packages that
 * every command loads are in the bundle too, in the version that the lock file names: an update of one reaches the command
 * with the next release. All others are imported from where npm installed them.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { licencesOf } from './licences.ts'

/** Where its files lie in a build; `main.js` is the entry, and keeps its place. */
const folder = 'adapters/cli'

/** Nothing but the command imports them, so the bundle has all of them. */
const insideAlone = ['adapters/http', 'adapters/mcp']

/** Loading them file by file took a third of the processor time of a short run. */
const bundledPackages = ['commander', 'zod']

/** Of a build, in place. */
export async function bundleCommand(build: string): Promise<void> {
  await using bundle = await rolldown({
    cwd: build,
    input: join(build, folder, 'main.js'),
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces(join(build, folder))],
    checks: { pluginTimings: false },
  })
  const { output } = await bundle.write({
    dir: join(build, folder),
    minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  const written = new Set(output.map(({ fileName }) => fileName))
  for (const name of readdirSync(join(build, folder)))
    if (!written.has(name)) rmSync(join(build, folder, name), { recursive: true })
  writeFileSync(join(build, folder, 'LICENSES.txt'), `${licencesOf(bundledPackages)}\n`)
  for (const place of insideAlone) rmSync(join(build, place), { recursive: true })
}

function isExternal(specifier: string): boolean {
  if (specifier.startsWith('.') || isAbsolute(specifier)) return false
  return !bundledPackages.some((name) => specifier === name || specifier.startsWith(`${name}/`))
}

/** A module finds files by its own place (`import.meta.url`); in a bundle it is told where that was. */
function keepPlaces(bundled: string): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!code.includes('import.meta')) return null
      const place = (to: string) => JSON.stringify(relative(bundled, to))
      return code
        .replaceAll('import.meta.url', `new URL(${place(id)}, import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/' + ${place(dirname(id))})`)
    },
  }
}
