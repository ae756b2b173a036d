/** Builds the launcher with the machine's own C compiler: static, so that it runs on any distribution. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const source = join(root, 'native/cell')
const folder = join(root, 'native/bin')
const target = join(folder, `cell-linux-${process.arch}`)
const temporary = `${target}.${process.pid}`

if (process.platform !== 'linux') {
  process.stderr.write(`lazaret: the launcher is for Linux; nothing was built on ${process.platform}.\n`)
  process.exit(0)
}

const compiler = process.env['CC'] ?? 'cc'
const flags = [
  '-static',
  '-O2',
  '-std=gnu17',
  '-D_GNU_SOURCE',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
]
const warnings = ['-Wall', '-Wextra', '-Werror', '-Wconversion']
const sources = readdirSync(source).filter((name) => name.endsWith('.c'))

mkdirSync(folder, { recursive: true })
const built = spawnSync(
  compiler,
  [...flags, ...warnings, '-s', '-o', temporary, ...sources.map((name) => join(source, name))],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
  },
)
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
