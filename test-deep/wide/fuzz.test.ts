/** New inputs for the launcher's parsers, for half a minute over all targets together. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

import { targets } from '../../scripts/fuzzing/targets.ts'
import { testLauncherFuzzing } from '../../test/support/sizes/launcher-fuzzing-tests.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-fuzz-'))
after(() => rmSync(folder, { recursive: true, force: true }))

testLauncherFuzzing(Math.floor(30 / targets.length), folder)
