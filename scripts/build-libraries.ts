/**
 * Bundles the libraries that programs in isolates may require, from the versions that package.json pins, into one file each:
 * `node scripts/build-libraries.ts <folder>`. Each file is the body of a function of module, exports, require, global and self,
 * needs only the language itself, and begins with the licences of its contents.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { licencesOf } from './bundling/licences.ts'
import { findBun } from './find-bun.ts'

const root = join(import.meta.dirname, '..')
const modules = join(root, 'node_modules')

/**
 * The package's own entry creates its thousand functions at once, which takes a third of a second. Those of an instance
 * are created on first use. They have the names of the entry, which a test compares.
 */
const lazyMathjs = `
import { create } from '${modules}/mathjs/lib/esm/core/create.js'
import * as all from '${modules}/mathjs/lib/esm/factoriesAny.js'
import * as dependencies from '${modules}/mathjs/lib/esm/entry/dependenciesAny.generated.js'
import { config } from '${modules}/mathjs/lib/esm/entry/configReadonly.js'
import { factory } from '${modules}/mathjs/lib/esm/utils/factory.js'
import { embeddedDocs as docs } from '${modules}/mathjs/lib/esm/expression/embeddedDocs/embeddedDocs.js'
const constants = { _true: true, _false: false, _null: null, _NaN: NaN, _Infinity: Infinity }
const named = { ...all, ...dependencies, ...constants, all, config, create, docs, factory }
module.exports = Object.defineProperties(
  {},
  { ...Object.getOwnPropertyDescriptors(create(all)), ...Object.getOwnPropertyDescriptors(named) },
)
`

/** The source to bundle for each: a file of the package, or a generated text if that is not enough. */
const libraries: Readonly<Record<string, { readonly file: string } | { readonly text: string }>> = {
  lodash: { file: 'lodash/lodash.js' },
  'date-fns': { file: 'date-fns/index.js' },
  mathjs: { text: lazyMathjs },
  papaparse: { file: 'papaparse/papaparse.min.js' },
  jstat: { file: 'jstat/dist/jstat.js' },
  uuid: { file: 'uuid/dist/index.js' },
  validator: { file: 'validator/index.js' },
}

const [, , target = join(root, 'dist/libraries')] = process.argv
const work = mkdtempSync(join(tmpdir(), 'lazaret-libraries-'))
try {
  mkdirSync(target, { recursive: true })
  for (const [name, source] of Object.entries(libraries)) {
    const entry = join(work, `${name}.entry.js`)
    if ('text' in source) writeFileSync(entry, source.text)
    const { text, packages } = bundle('file' in source ? join(modules, source.file) : entry)
    writeFileSync(
      join(target, `${name}.js`),
      `/*!\n${licencesOf(packages).replaceAll('*/', '* /')}\n*/\n${text}`,
    )
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}

function bundle(entry: string): { readonly text: string; readonly packages: readonly string[] } {
  const bun = findBun()
  if (bun === undefined)
    throw new Error('Bun bundles the libraries: run `npm install` without `--omit=optional`.')
  const { status, stderr } = spawnSync(
    bun,
    ['build', entry, '--minify', '--target=browser', '--format=cjs', '--entry-naming=bundle.js'].concat(
      `--outdir=${work}`,
      `--metafile=${work}/inputs.json`,
    ),
    { encoding: 'utf8', cwd: root },
  )
  if (status !== 0) throw new Error(`${entry} cannot be bundled: ${stderr}`)
  const { inputs } = JSON.parse(readFileSync(join(work, 'inputs.json'), 'utf8')) as { inputs: object }
  return { text: readFileSync(join(work, 'bundle.js'), 'utf8'), packages: packagesOf(Object.keys(inputs)) }
}

function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap((file) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  return [...new Set(names)].sort()
}
