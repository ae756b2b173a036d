/** Known interesting programs, in `corpus/`. They run before random ones. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { parseProgram } from './program.ts'
import type { Program } from './program.ts'

const folder = join(import.meta.dirname, 'corpus')

export interface KnownProgram {
  readonly name: string
  readonly program: Program
}

export function readCorpus(): readonly KnownProgram[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.calls'))
  return files.sort().map((file) => ({
    name: file.replace(/\.calls$/, ''),
    program: parseProgram(readFileSync(join(folder, file), 'utf8')),
  }))
}
