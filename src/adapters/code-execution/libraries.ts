/** The libraries that programs may require, by default and with a service's own list. */
import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { libraryNames, ownLibraries, readOwnLibrary } from '../../runtimes/isolate/libraries.ts'
import type { LibraryPlace } from '../../runtimes/isolate/protocol.ts'

interface Choice {
  readonly libraries: Readonly<Record<string, string>>
  readonly replaceLibraries: boolean
}

/** Whether the module is one of those that every service allows by default. */
export function isModuleAllowed(name: string): boolean {
  return (libraryNames as readonly string[]).includes(name)
}

/** A copy of the names of the modules that every service allows by default. */
export function getAllowedModuleNames(): string[] {
  return [...libraryNames]
}

/** A library's source text; null for an unknown name. */
export function getLibrarySource(name: string): string | null {
  return readOwnLibrary(name)
}

/** The list for a worker. Throws INVALID_REQUEST for a file that cannot be read. */
export function readLibraries({
  libraries,
  replaceLibraries,
}: Choice): Readonly<Record<string, LibraryPlace>> {
  const added = Object.entries(libraries).map(([name, text]) => [name, { source: readAdded(name, text) }])
  return { ...(replaceLibraries ? {} : ownLibraries()), ...Object.fromEntries(added) }
}

/** Reads the file if the text is a path; otherwise the text itself is the source. */
export function readAdded(name: string, pathOrSource: string): string {
  const isPath = !pathOrSource.includes('\n') && (isAbsolute(pathOrSource) || pathOrSource.startsWith('./'))
  if (!isPath) return pathOrSource
  try {
    return readFileSync(pathOrSource, 'utf8')
  } catch (cause) {
    const detail = `libraries.${name}: ${pathOrSource} cannot be read.`
    throw new LazaretError('INVALID_REQUEST', { detail, cause })
  }
}
