/** The libraries that programs in isolates may `require`. Lazaret's build contains each as one file. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { LibraryPlace } from './protocol.ts'

/** The libraries, in the order in which messages list them. */
export const libraryNames = [
  'lodash',
  'date-fns',
  'mathjs',
  'papaparse',
  'jstat',
  'uuid',
  'validator',
] as const

const folder = new URL('../../../dist/libraries/', import.meta.url)
/** The folder in which a worker finds them, next to its program. */
const guestFolder = '../libraries'

/** The libraries of Lazaret's build, by name. */
export function ownLibraries(): Readonly<Record<string, LibraryPlace>> {
  return Object.fromEntries(libraryNames.map((name) => [name, { file: `${guestFolder}/${name}.js` }]))
}

/** The source of a library, or null if Lazaret has no library of this name. */
export function readOwnLibrary(name: string): string | null {
  if (!(libraryNames as readonly string[]).includes(name)) return null
  const path = fileURLToPath(new URL(`${name}.js`, folder))
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}
