/**
 * Builds the native parts with the machine's own C compiler: the launcher, static, so that it runs on any distribution,
 * and the libraries that interpreters load to become zygotes, which share some of the launcher's files.
 * `--arch arm64` or `--arch x64` builds for that processor, with Debian's cross compiler if it is not this machine's.
 * `--unless-current` builds only if something is older than a source, or missing, and takes the prebuilt files if they fit.
 * `--keep` builds for all processors, and writes the prebuilt files of the checkout, from which packages are made.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { architectures, keepPrebuilt, nativeSources, targetsOf, unpackPrebuilt } from './prebuilt.ts'

const root = join(import.meta.dirname, '..')
const cell = join(root, 'native/cell')
const relay = join(root, 'native/relay')
const folder = join(root, 'native/bin')

if (process.platform !== 'linux') {
  process.stderr.write(`lazaret: the launcher is for Linux; nothing was built on ${process.platform}.\n`)
  process.exit(0)
}

const { values: options } = parseArgs({
  options: {
    arch: { type: 'string' },
    keep: { type: 'boolean', default: false },
    'unless-current': { type: 'boolean', default: false },
  },
})
const crossCompilers: Readonly<Record<string, string>> = {
  x64: 'x86_64-linux-gnu-gcc',
  arm64: 'aarch64-linux-gnu-gcc',
}
const flags = [
  '-O2',
  '-std=gnu17',
  '-D_GNU_SOURCE',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-I',
  cell,
  '-I',
  relay,
]
const warnings = ['-Wall', '-Wextra', '-Werror', '-Wconversion']
/** Unused code is left out, and the interpreter's own symbols are resolved when the library is loaded. */
const shared = ['-shared', '-fPIC', '-fvisibility=hidden', '-ffunction-sections', '-Wl,--gc-sections,-z,now']
const sharedWithLauncher = [
  'filters.c',
  'frames.c',
  'ids.c',
  'serve/forks.c',
  'serve/guest.c',
  'serve/limits.c',
]

const launcher = readdirSync(cell, { encoding: 'utf8', recursive: true }).filter((name) =>
  name.endsWith('.c'),
)
mkdirSync(folder, { recursive: true })
// Packages hold the parts for all processors; this machine needs its own.
if (options['unless-current'])
  for (const other of architectures) if (other !== process.arch) unpackPrebuilt(other, folder)
const chosen = options.keep ? architectures : [options.arch ?? process.arch]
for (const architecture of chosen) {
  if (options['unless-current'] && (isCurrent(architecture) || unpackPrebuilt(architecture, folder))) continue
  const compiler = compilerFor(architecture)
  build(architecture, compiler)
  if (options.keep) keepPrebuilt(architecture, folder, compiler)
}

function compilerFor(architecture: string): string {
  if (architecture === process.arch) return process.env['CC'] ?? 'cc'
  const compiler = crossCompilers[architecture]
  if (compiler !== undefined) return compiler
  process.stderr.write(
    `lazaret: cells know the processors ${architectures.join(' and ')}, not ${architecture}.\n`,
  )
  process.exit(1)
}

function build(architecture: string, compiler: string): void {
  const [cellProgram, pythonZygote, javascriptZygote] = targetsOf(architecture)
  compileLauncher(compiler, cellProgram)
  compileZygote(compiler, pythonZygote, ['python.c'])
  compileZygote(compiler, javascriptZygote, [
    ...['javascript.c', 'threads.c', 'memory.c', 'descriptors.c'],
    ...['seeds.c', 'node.c', 'v8-random.c'],
  ])
}

/** As in make: no output is older than one of its sources, including this file. */
function isCurrent(architecture: string): boolean {
  const changedMs = nativeSources().map((file) => statSync(join(root, file)).mtimeMs)
  const builtMs = targetsOf(architecture).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return Math.min(...builtMs) > Math.max(...changedMs)
}

/** Launcher and relay are one program; `__wrap_main` of the relay decides which it is. */
function compileLauncher(compiler: string, name: string): void {
  const ofRelay = readdirSync(relay).filter((file) => file.endsWith('.c'))
  const sources = [...launcher.map((file) => join(cell, file)), ...ofRelay.map((file) => join(relay, file))]
  compile(compiler, name, ['-static', '-Wl,--wrap=main', ...sources])
}

function compileZygote(compiler: string, name: string, own: readonly string[]): void {
  compile(compiler, name, [
    ...shared,
    ...['fork_guests.c', 'packet.c', ...own].map((file) => join(root, 'native/zygote', file)),
    ...sharedWithLauncher.map((file) => join(cell, file)),
  ])
}

function compile(compiler: string, name: string, parts: readonly string[]): void {
  const target = join(folder, name)
  const temporary = `${target}.${process.pid}`
  const built = spawnSync(compiler, [...flags, ...warnings, '-s', '-o', temporary, ...parts], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (built.error !== undefined) {
    process.stderr.write(
      `lazaret: no C compiler was found (${compiler}), and the prebuilt launcher does not fit this machine or these ` +
        `sources: install a compiler, for example with \`apt-get install ${packageOf(compiler)}\`.\n`,
    )
    process.exit(1)
  }
  if (built.status !== 0) {
    rmSync(temporary, { force: true })
    process.exit(1)
  }
  // Renamed into place, so that a starting cell never finds half a launcher.
  renameSync(temporary, target)
}

function packageOf(compiler: string): string {
  const isCross = Object.values(crossCompilers).includes(compiler)
  return isCross ? `gcc-${compiler.replace(/-gcc$/, '').replace('_', '-')}` : 'gcc libc6-dev'
}
