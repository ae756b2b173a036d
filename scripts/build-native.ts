/**
 * Builds the native parts with the machine's own C compiler: the launcher, static, so that it runs on any distribution,
 * and the libraries that interpreters load to become zygotes, which share some of the launcher's files.
 * `--unless-current` builds only if something is older than a source, or missing, and takes the prebuilt files if they fit.
 * `--keep` also writes the prebuilt files of the checkout.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { keepPrebuilt, nativeSources, unpackPrebuilt } from './prebuilt.ts'

const root = join(import.meta.dirname, '..')
const cell = join(root, 'native/cell')
const relay = join(root, 'native/relay')
const folder = join(root, 'native/bin')

if (process.platform !== 'linux') {
  process.stderr.write(`lazaret: the launcher is for Linux; nothing was built on ${process.platform}.\n`)
  process.exit(0)
}

const targets = [
  `cell-linux-${process.arch}`,
  `zygote-linux-${process.arch}.so`,
  `javascript-zygote-linux-${process.arch}.so`,
] as const
if (process.argv.includes('--unless-current') && (isCurrent() || unpackPrebuilt(targets, folder)))
  process.exit()

const compiler = process.env['CC'] ?? 'cc'
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

mkdirSync(folder, { recursive: true })
const launcher = readdirSync(cell, { encoding: 'utf8', recursive: true }).filter((name) =>
  name.endsWith('.c'),
)
compileLauncher(targets[0])
compileZygote(targets[1], ['python.c'])
compileZygote(targets[2], [
  ...['javascript.c', 'threads.c', 'memory.c', 'descriptors.c'],
  ...['seeds.c', 'node.c', 'v8-random.c'],
])
if (process.argv.includes('--keep')) keepPrebuilt(targets, folder, compiler)

/** As in make: no output is older than one of its sources, including this file. */
function isCurrent(): boolean {
  const changedMs = nativeSources().map((file) => statSync(join(root, file)).mtimeMs)
  const builtMs = targets.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.min(...builtMs) > Math.max(...changedMs)
}

/** Launcher and relay are one program; `__wrap_main` of the relay decides which it is. */
function compileLauncher(name: string): void {
  const ofRelay = readdirSync(relay).filter((file) => file.endsWith('.c'))
  const sources = [...launcher.map((file) => join(cell, file)), ...ofRelay.map((file) => join(relay, file))]
  compile(name, ['-static', '-Wl,--wrap=main', ...sources])
}

function compileZygote(name: string, own: readonly string[]): void {
  compile(name, [
    ...shared,
    ...['fork_guests.c', 'packet.c', ...own].map((file) => join(root, 'native/zygote', file)),
    ...sharedWithLauncher.map((file) => join(cell, file)),
  ])
}

function compile(name: string, parts: readonly string[]): void {
  const target = join(folder, name)
  const temporary = `${target}.${process.pid}`
  const built = spawnSync(compiler, [...flags, ...warnings, '-s', '-o', temporary, ...parts], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (built.error !== undefined) {
    process.stderr.write(
      `lazaret: no C compiler was found (${compiler}), and the prebuilt launcher does not fit this machine or these ` +
        'sources: install a compiler, for example with `apt-get install gcc libc6-dev`.\n',
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
