/** The files of this checkout, for tests that read them, without built or installed files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const checkoutRoot = join(import.meta.dirname, '../../..')

/** The folders of .gitignore, and `.git`. */
const ignored = ['.git', '.compile-cache', 'node_modules', 'dist', 'native/bin', 'test-results']

/** Paths relative to the checkout, sorted. */
export function listFiles(folder = '', extensions: readonly string[] = ['']): string[] {
  const entries = readdirSync(join(checkoutRoot, folder), { withFileTypes: true })
  return entries
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (ignored.includes(path) || entry.name === '__pycache__') return []
      if (entry.isDirectory()) return listFiles(path, extensions)
      return entry.isFile() && !path.endsWith('.tgz') && extensions.some((end) => path.endsWith(end))
        ? [path]
        : []
    })
    .sort()
}

export function readText(path: string): string {
  return readFileSync(join(checkoutRoot, path), 'utf8')
}

export interface CodeLine {
  readonly number: number
  readonly text: string
}

/** The lines of a TypeScript file that are not whole comments, as the formatter lays them out. */
export function codeLines(path: string): CodeLine[] {
  const lines = readText(path).split('\n')
  return lines
    .map((text, index) => ({ number: index + 1, text }))
    .filter(({ text }) => !/^\s*(\/\/|\/?\*)/.test(text))
}

/** What a TypeScript file imports or re-exports: specifiers as written. Relies on the formatter's layout. */
export function importsOf(path: string): string[] {
  const text = codeLines(path)
    .map((line) => line.text)
    .join('\n')
  const statement = /^(?:import|export|\}).*? from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm
  return [...text.matchAll(statement)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
}
