/**
 * Builds what is native with the machine's own C compiler: the launcher, static, so that it runs on any distribution,
 * and the library that an interpreter loads to become a zygote, which shares some of the launcher's files.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const cell = join(root, 'native/cell')
const folder = join(root, 'native/bin')

if (process.platform !== 'linux') {
  process.stderr.write(`lazaret: the launcher is for Linux; nothing was built on ${process.platform}.\n`)
  process.exit(0)
}

const compiler = process.env['CC'] ?? 'cc'
const flags = [
  '-O2',
  '-std=gnu17',
  '-D_GNU_SOURCE',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-I',
  cell,
]
const warnings = ['-Wall', '-Wextra', '-Werror', '-Wconversion']
/** Only what the library calls stays in it; the interpreter's own names are found when it is loaded. */
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
compile(`cell-linux-${process.arch}`, ['-static', ...launcher.map((name) => join(cell, name))])
compile(`zygote-linux-${process.arch}.so`, [
  ...shared,
  join(root, 'native/zygote/zygote.c'),
  ...sharedWithLauncher.map((name) => join(cell, name)),
])

function compile(name: string, parts: readonly string[]): void {
  const target = join(folder, name)
  const temporary = `${target}.${process.pid}`
  const built = spawnSync(compiler, [...flags, ...warnings, '-s', '-o', temporary, ...parts], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (built.error !== undefined) {
    process.stderr.write(
      `lazaret: no C compiler was found (${compiler}), and the launcher is built from source in a checkout: ` +
        'install one, for example with `apt-get install gcc libc6-dev`.\n',
    )
    process.exit(1)
  }
  if (built.status !== 0) {
    rmSync(temporary, { force: true })
    process.exit(1)
  }
  // Renamed into place: a cell that is being started never sees half a launcher.
  renameSync(temporary, target)
}
