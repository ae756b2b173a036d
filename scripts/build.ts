/**
 * Compiles src/ to dist/, copies the files that guests read unchanged, and bundles the JavaScript harness. Everything is
 * built in a new folder, which then replaces dist/, so that nothing old stays and no process sees half a build.
 * `--unless-current` builds only if something has changed since the last build.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { builtAhead, nameOfBuilt } from '../src/jail/seccomp/built-programs.ts'
import { buildProgram } from '../src/jail/seccomp/program.ts'
import { bundleConsole } from './build-console.ts'
import { isBuildCurrent, noteBuild } from './build-stamp.ts'
import { bundleHost } from './bundling/bundle-host.ts'
import { findBun } from './find-bun.ts'
import { rollUpTypes } from './public-types.ts'

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist')
const fresh = `${target}.${process.pid}.new`
const stale = `${target}.${process.pid}.old`

if (process.argv.includes('--unless-current') && isBuildCurrent()) process.exit()

try {
  const compiled = compile()
  await rollUpTypes(fresh, publicFiles('types'))
  copyAsTheyAre()
  buildFilters()
  const bun = findBun()
  if (bun === undefined) fail('The build bundles with Bun: run `npm install` without `--omit=optional`.')
  bundleHarness(bun)
  bundleIsolates(bun)
  bundleInside(bun)
  await bundleHost(
    fresh,
    publicFiles('default').map((file) => relative('dist', file)),
  )
  removeModules(compiled)
  await bundleConsole(fresh)
  run(process.execPath, [join(root, 'scripts/build-libraries.ts'), join(fresh, 'libraries')])
  chmodSync(join(fresh, 'adapters/cli/main.js'), 0o755)
  if (existsSync(target)) renameSync(target, stale)
  renameSync(fresh, target)
  noteBuild()
} finally {
  for (const folder of [fresh, stale]) rmSync(folder, { recursive: true, force: true })
}

/** Each module with its text. All of them are bundled. */
function compile(): Map<string, string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  run(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh])
  const modules = globSync('**/*.js', { cwd: fresh }).map((file) => join(fresh, file))
  return new Map(modules.map((file) => [file, readFileSync(file, 'utf8')]))
}

/** Removes the compiler's unchanged output: it is in a bundle, or only had types. */
function removeModules(compiled: ReadonlyMap<string, string>): void {
  for (const [file, text] of compiled)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) rmSync(file)
  for (const folder of globSync('**/', { cwd: fresh }).toSorted().toReversed())
    if (readdirSync(join(fresh, folder)).length === 0) rmdirSync(join(fresh, folder))
}

/** The entries that the manifest names. */
function publicFiles(kind: 'types' | 'default'): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  }
  return Object.values(manifest.exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry[kind]]))
}

/** Files for guests that are not TypeScript. */
function copyAsTheyAre(): void {
  for (const file of globSync(['src/runtimes/**/*.{py,json}', 'src/policy/**/*.py'], { cwd: root })) {
    const copy = join(fresh, file.replace(/^src/, '.'))
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(root, file), copy)
  }
}

function buildFilters(): void {
  for (const options of builtAhead)
    writeFileSync(join(fresh, 'jail/seccomp', nameOfBuilt(options) ?? ''), buildProgram(options))
}

/** Fewer, smaller and, for Bun, compiled files start faster: docs/decisions/0009-one-file-harness.md has the figures. */
function bundleHarness(bun: string): void {
  const folder = join(fresh, 'runtimes/javascript')
  const shared = ['--minify-whitespace', '--minify-syntax', '--external=acorn']
  const forNode = `${fresh}/harness-node`
  const forBun = `${fresh}/harness-bun`
  run(bun, [
    'build',
    join(folder, 'guest-node.js'),
    join(folder, 'guest-context.js'),
    join(folder, 'context/reader.js'),
    join(folder, 'modules/workspace-modules.js'),
    join(folder, 'forks/guest-node-zygote.js'),
    ...shared,
    '--target=node',
    '--format=esm',
    '--splitting',
    '--entry-naming=[name].[ext]',
    `--outdir=${forNode}`,
  ])
  const asBun = [...shared, '--target=bun', '--format=cjs', `--outdir=${forBun}`]
  // The bytecode belongs to one version of Bun; others ignore it and read the source beside it.
  run(bun, ['build', join(folder, 'guest.js'), ...asBun, '--bytecode', '--entry-naming=guest-bun.[ext]'])
  // Without bytecode: it starts once for many guests, so saving some milliseconds is not worth 300 KB.
  run(bun, [
    'build',
    join(folder, 'forks/guest-bun-zygote.js'),
    ...asBun,
    '--entry-naming=guest-bun-zygote.[ext]',
  ])
  // CommonJS, because the requiring thread reads modules itself. Imports start other threads, which a zygote must not have.
  writeFileSync(join(forNode, 'guest-node-zygote.cjs'), "require('./guest-node-zygote.js')\n")
  // It is evaluated in a realm without modules.
  const forBare = `${fresh}/harness-bare`
  run(bun, [
    'build',
    join(folder, 'bare/inside.js'),
    '--minify-whitespace',
    '--minify-syntax',
    '--target=browser',
    '--format=iife',
    '--entry-naming=guest-bare.[ext]',
    `--outdir=${forBare}`,
  ])
  for (const bundle of [forNode, forBun, forBare]) {
    for (const file of globSync('*', { cwd: bundle })) renameSync(join(bundle, file), join(folder, file))
    rmSync(bundle, { recursive: true })
  }
}

/** The Node process around the isolates. */
function bundleIsolates(bun: string): void {
  run(bun, [
    'build',
    join(fresh, 'runtimes/isolate/guest.js'),
    '--minify-whitespace',
    '--minify-syntax',
    '--external=acorn',
    '--external=oxc-transform',
    '--target=node',
    '--format=esm',
    '--entry-naming=guest.[ext]',
    `--outdir=${join(fresh, 'harness-isolate')}`,
  ])
}

/**
 * The inside of isolates (src/runtimes/isolate/inside/main.ts) as an expression, whose value is a function of what the Node
 * process provides. Its parts are expressions, too. All code is strict, because the engine hides strict functions from
 * the functions that they call.
 */
function bundleInside(bun: string): void {
  const folder = join(fresh, 'harness-isolate')
  mkdirSync(folder, { recursive: true })
  const [platform, main] = [bundleScript(bun, 'platform'), bundleScript(bun, 'main')]
  const names = 'const{process,Buffer,TextEncoder}=$lazaretInside.platform;'
  writeFileSync(
    join(folder, 'inside.js'),
    `(function(){"use strict";const $lazaretInside={};${platform}${names}${main}return $lazaretInside.open})()`,
  )
  for (const part of ['values', 'shims']) {
    const text = bundleScript(bun, `${part}-part`)
    writeFileSync(
      join(folder, `${part}.js`),
      `(function(platform){"use strict";const $lazaretInside={platform};${names}${text}return $lazaretInside})`,
    )
  }
}

function bundleScript(bun: string, name: string): string {
  const bundled = join(fresh, `${name}.bundle`)
  const entry = join(fresh, `runtimes/isolate/inside/${name}.js`)
  run(bun, ['build', entry, '--minify', '--target=browser', '--format=iife', `--outdir=${bundled}`])
  const text = readFileSync(join(bundled, `${name}.js`), 'utf8').trim()
  rmSync(bundled, { recursive: true })
  return text.endsWith(';') ? text : `${text};`
}

function run(file: string, args: readonly string[]): void {
  const { status, error, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status === 0) return
  fail(`${file} failed:\n${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`)
}

function fail(message: string): never {
  process.stderr.write(`lazaret: ${message}\n`)
  rmSync(fresh, { recursive: true, force: true })
  process.exit(1)
}
