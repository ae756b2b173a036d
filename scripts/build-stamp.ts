/**
 * Whether `dist/` is up to date: a hash of everything that a build reads, and of everything that it wrote, kept beside the
 * dependencies. `.ci/run` builds once for `npm ci`, `npm test` and `npm run test:all`.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'node_modules/.cache/lazaret')
const stamp = join(folder, 'build-stamp')

/** The lock file stands for the compilers and for the libraries that are bundled. */
const inputs = [
  'src/**',
  'console/**',
  'scripts/*.ts',
  'scripts/bundling/**',
  'tsconfig*.json',
  'package.json',
  'package-lock.json',
]

export function isBuildCurrent(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === describeBuild()
}

export function noteBuild(): void {
  mkdirSync(folder, { recursive: true })
  const fresh = `${stamp}.${process.pid}`
  writeFileSync(fresh, describeBuild())
  renameSync(fresh, stamp)
}

function describeBuild(): string {
  const hash = createHash('sha256').update(process.version)
  const files = globSync([...inputs, 'dist/**'], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.toSorted()) {
    const content = readFileSync(file)
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
