/** A process whose working folder is removed. It runs a snippet then, and prints the error. */
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { LazaretError } from '../../../src/core/errors/errors.ts'
import { runSnippet } from '../../../src/adapters/snippet-tool/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-gone-'))
process.chdir(folder)
rmdirSync(folder)
await runSnippet({ source: 'emit(1)' }).catch((error: LazaretError) => console.log(error.code, error.message))
