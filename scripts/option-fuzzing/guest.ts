/** The guest, compiled by the machine's own compiler, and the numbers of calls from its headers. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { readSyscallNumbers } from '../../test/profiles/compile-profile.ts'

export interface Guest {
  readonly program: Uint8Array
  readonly numbers: ReadonlyMap<string, number>
}

const source = join(import.meta.dirname, 'calls.c')
const flags = ['-O1', '-Wall', '-Wextra', '-Werror', '-pthread']

/** Why no guest can be compiled here, or false. */
export function whyNoGuest(): string | false {
  const { error } = spawnSync('cc', ['--version'], { stdio: 'ignore' })
  return error === undefined ? false : 'cc is not installed, and the guest is written in C'
}

export function compileGuest(): Guest {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-calls-'))
  try {
    const program = join(folder, 'calls')
    execFileSync('cc', [...flags, '-o', program, source], { stdio: ['ignore', 'inherit', 'inherit'] })
    return { program: readFileSync(program), numbers: readSyscallNumbers() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
