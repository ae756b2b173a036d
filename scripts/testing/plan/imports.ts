/** What the files of this checkout load, read from their text in the formatter's layout. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface SourceFile {
  readonly text: string
  /** Names of imported modules, except for type-only imports and files. */
  readonly modules: readonly string[]
  /** Files of this checkout that it loads itself. */
  readonly files: readonly string[]
}

/** Stands for an import whose name is computed: it could be anything. */
export const computedImport = '(computed)'

const known = new Map<string, SourceFile>()

export function readSource(path: string): SourceFile {
  const source = known.get(path) ?? parse(path)
  known.set(path, source)
  return source
}

/** The file and every file of this checkout that it loads, directly or indirectly. */
export function filesLoadedBy(path: string): string[] {
  const found = new Set([path])
  for (const one of found) for (const next of readSource(one).files) found.add(next)
  return [...found]
}

function parse(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const names = importsIn(text)
  const files = names.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name))
  return {
    text,
    modules: names.filter((name) => !name.startsWith('.')),
    files: files.filter((file) => existsSync(file)),
  }
}

function importsIn(text: string): string[] {
  const statement = /^(?:import|export)\b(?! type\b)[^'"`;]*?\bfrom '([^']+)'|^import '([^']+)'/gm
  const fixed = [...text.matchAll(statement)].map(([, from, bare]) => from ?? bare ?? '')
  const calls = text.matchAll(/\bimport\(\s*(?:'([^']+)'\s*\))?/g)
  return [...fixed, ...[...calls].map(([, name]) => name ?? computedImport)]
}
