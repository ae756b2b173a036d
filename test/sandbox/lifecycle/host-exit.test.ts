/** An idle sandbox does not keep its program alive. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

import { checkoutRoot } from '../../support/sources/checkout.ts'

const program = `
  import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
  const lazaret = createLazaret({ onEvent: () => undefined })
  const sandbox = await lazaret.sandbox({ idleTimeoutMs: 3_600_000, allowDegradedSecrets: true })
  await sandbox.startProcess('sleep 300')
  await sandbox.exec('true')
  await sandbox.exec('true', { env: { TOKEN: 't' } })
  console.log('done')`

test('prepared shells and spaces, processes and idle timers do not keep a program alive', () => {
  // Less than the half minute for which prepared shells and spaces wait.
  const options = { encoding: 'utf8', timeout: 20_000 } as const
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], options)
  assert.deepEqual([status, stdout], [0, 'done\n'])
})
