/**
 * Bundles the library and the command into a few files, because finding, reading and linking hundreds of small modules
 * takes longer than most runs. Code that only some callers need stays in separate files, which are imported on demand. The
 * bundle also contains the packages that every caller loads, in the version that the lock file names. npm installs all
 * others, which are imported.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { unbundle } from '../../src/core/errors/unbundle.ts'
import { breakLines } from './break-lines.ts'
import { bundledPackages } from './bundled-packages.ts'
import { nameBuiltinModules } from './builtin-modules.ts'
import { licencesOf } from './licences.ts'
import { shareChunks } from './shared-chunks.ts'

/** Besides the package's entries: the command, and the entry files of threads and processes. These keep their paths. */
const programs = [
  'adapters/cli/main.js',
  'jail/edge/secrets/proxy-process.js',
  'policy/validation/parser-thread.js',
  'runtimes/snippet/guest.js',
  'sandbox/processes/line-search-thread.js',
]

/** The entries that share chunks, in order of their allowed size: threads, entries without an engine, command, engine. */
const sharing = [
  ['worker', 'policy/validation/parser-thread.js'],
  ['snippet', 'runtimes/snippet/guest.js'],
  ['client', 'adapters/client/index.js'],
  ['proxy', 'jail/edge/secrets/proxy-process.js'],
  ['observe', 'observe/index.js'],
  ['snippet-command', 'adapters/cli/commands/snippet-thread.js'],
  ['command', 'adapters/cli/program.js'],
  ['engine', 'index.js'],
] as const

/** Loaded before anything that finds files. Bundlers that write CommonJS leave `import.meta` empty. */
const rootCode = `const place = import.meta.url
if (place === undefined)
  throw new Error(${JSON.stringify(`Lazaret cannot find its own files here. ${unbundle}`)})
export const root = new URL('../', place).href
`

/** Bundles a build in place. `entries` are the package's own, relative to the build. */
export async function bundleHost(build: string, entries: readonly string[]): Promise<void> {
  const rootModule = join(build, 'root.js')
  writeFileSync(rootModule, rootCode)
  const inputs = [...entries, ...programs]
  await using bundle = await rolldown({
    cwd: build,
    input: Object.fromEntries(inputs.map((file) => [file.replace(/\.js$/, ''), join(build, file)])),
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces(build, rootModule)],
    checks: { pluginTimings: false },
  })
  const { output } = await bundle.write({
    dir: build,
    // Line breaks stay, because Node prints the whole line that threw an uncaught error.
    minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: false } },
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    // A separate chunk, so that it is one folder below the build.
    codeSplitting: {
      groups: [
        { name: 'root', test: rootModule, priority: sharing.length + 1 },
        ...shareChunks(
          inputs.map((file) => join(build, file)),
          sharing.map(([name, file]) => [name, join(build, file)]),
        ),
      ],
    },
  })
  for (const one of output)
    if (one.type === 'chunk')
      writeFileSync(join(build, one.fileName), breakLines(nameBuiltinModules(one.code)))
  rmSync(rootModule)
  writeFileSync(join(build, 'LICENSES.txt'), `${licencesOf(bundledPackages)}\n`)
}

function isExternal(specifier: string): boolean {
  if (specifier.startsWith('.') || isAbsolute(specifier)) return false
  return !bundledPackages.some((name) => specifier === name || specifier.startsWith(`${name}/`))
}

/** A module finds files relative to itself (`import.meta`); in a bundle, its original path is inserted. */
function keepPlaces(build: string, rootModule: string): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (id === rootModule || !id.startsWith(build) || !/import\.meta\.(?:url|dirname)/.test(code))
        return null
      const place = (to: string) => `new URL(${JSON.stringify(relative(build, to))}, $root)`
      const kept = code
        .replaceAll('import.meta.url', `${place(id)}.href`)
        .replaceAll('import.meta.dirname', `$pathOf(${place(dirname(id))})`)
      const from = JSON.stringify(rootModule)
      // After the first line, which may be for the shell.
      return `${kept}\nimport { root as $root } from ${from}\nimport { fileURLToPath as $pathOf } from 'node:url'\n`
    },
  }
}
