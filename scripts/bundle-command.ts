/**
 * The command as a few files: it loads most of the engine, and finding, reading and linking hundreds of small modules takes
 * longer than most runs. What only some commands need stays in files of its own, as it is imported when it is needed. Other
 * packages are not bundled: an update of one of them reaches the command too.
 */
import { globSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'

/** Where its files lie in a build; `main.js` is the entry, and keeps its place. */
const folder = 'adapters/cli'

/** Nothing but the command imports them, so the bundle has all of them. */
const insideAlone = ['adapters/http', 'adapters/mcp']

/** Of a build, in place. */
export async function bundleCommand(build: string): Promise<void> {
  const files = globSync(`${folder}/*.js`, { cwd: build })
  await using bundle = await rolldown({
    cwd: build,
    input: join(build, folder, 'main.js'),
    platform: 'node',
    external: (specifier) => !specifier.startsWith('.') && !isAbsolute(specifier),
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
  const written = new Set(output.map(({ fileName }) => join(folder, fileName)))
  for (const file of files) if (!written.has(file)) rmSync(join(build, file))
  for (const place of insideAlone) rmSync(join(build, place), { recursive: true })
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
