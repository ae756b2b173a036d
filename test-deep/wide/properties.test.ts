/**
 * The properties of `test/`, which draw the same values on each landing, with other values each time: those that start no
 * process.
 */
import { join } from 'node:path'
import { test } from 'node:test'

import { filesLoadedBy } from '../../scripts/testing/plan/imports.ts'
import { classOf } from '../../scripts/testing/plan/test-class.ts'
import { drawSeed } from '../../test/support/seed.ts'
import { checkoutRoot, listFiles } from '../../test/support/sources/checkout.ts'

const seed = String(drawSeed())
process.env['LAZARET_TEST_SEED'] = seed
test('the seed', (context) => context.diagnostic(`LAZARET_TEST_SEED=${seed}`))

const files = listFiles('test', ['.test.ts']).filter(
  (file) => filesLoadedBy(file).includes('test/support/fast-check.ts') && classOf(file) === 'pure',
)
for (const file of files) await import(join(checkoutRoot, file))
