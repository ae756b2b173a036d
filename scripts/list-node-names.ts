/**
 * Writes the names that the oldest supported Node has to test/support/sources/oldest-node-names.json.
 * test/oldest-node.test.ts compares them with the names in the sources. Run it after a change of `engines` in package.json.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { oldestNode } from './testing/oldest-node.ts'

const support = join(import.meta.dirname, '../test/support/sources')
const program = join(support, 'node-names.ts')
const names = execFileSync(oldestNode(), ['--experimental-strip-types', '--no-warnings', program], {
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
})
writeFileSync(join(support, 'oldest-node-names.json'), names)
