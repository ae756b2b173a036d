/** Declarations of what nobody can import: those that no public entry leads to are left out of the package. */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Removes them from a build. `entries` are the package's own, as its manifest has them. */
export function keepPublicTypes(build: string, entries: readonly string[]): void {
  const kept = new Set<string>()
  const waiting = entries.map((entry) => join(build, relative('dist', entry)))
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (kept.has(file)) continue
    kept.add(file)
    waiting.push(...namedIn(file))
  }
  for (const file of globSync('**/*.d.ts', { cwd: build }).map((path) => join(build, path)))
    if (!kept.has(file)) rmSync(file)
}

/** `from './one.ts'`, `import('./one.ts')`: declarations name sources, as the sources do. */
function namedIn(file: string): string[] {
  const names = readFileSync(file, 'utf8').matchAll(/(?:from |import(?:\(| ))['"](\.[^'"]+)\.[jt]s['"]/g)
  return [...names].map(([, name = '']) => join(dirname(file), `${name}.d.ts`))
}
