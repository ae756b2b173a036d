/** Packs this checkout as npm would, and checks the tarball with publint and attw: `npm run check`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const checkout = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'lazaret-packed-'))

try {
  // Without scripts: the present build is packed. npm needs a writable cache folder, and HOME may not be one.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder, '--cache', join(folder, 'cache')])
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  // `esm-only`: Node has required ES modules since the oldest version that is supported.
  run('attw', [join(folder, tarball), '--profile', 'esm-only', '--no-emoji'])
  run('publint', [join(folder, tarball), '--strict'])
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Throws an error with its output if it failed or warned. */
function run(command: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: checkout,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  const isWarned = command !== 'npm' && /warning/i.test(stdout)
  if (error !== undefined || status !== 0 || isWarned)
    throw new Error([`${command}: failed`, error?.message, stdout, stderr].filter(Boolean).join('\n'))
}
