/** A guest with more processes than a watchdog can list, on a machine that lacks something. */
import assert from 'node:assert/strict'
import { join } from 'node:path'

import { WithoutLayers } from '../hosts/without-layer.ts'
import type { Lacking } from '../hosts/without-layer.ts'
import { ampleMs } from '../patient-run.ts'
import { checkoutRoot } from '../sources/checkout.ts'

/** Processes that have ended and that nobody waits for: the cheapest kind. */
const crowd = `
import os, time
for _ in range(4500):
    if os.fork() == 0: os._exit(0)
print('all are there', flush=True)
time.sleep(${ampleMs / 1000})`

const program = `
import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
const processesMax = 10_000
const lazaret = createLazaret({ minimumProtection: 'restricted', ceilings: { processesMax } })
const limits = { processesMax, wallMs: ${ampleMs} }
const { outcome } = await lazaret.run({ language: 'python', code: ${JSON.stringify(crowd)}, limits })
await lazaret[Symbol.asyncDispose]()
process.stdout.write(JSON.stringify(outcome))`

/** What the watchdog cannot list it cannot measure, so the guest must end. */
export async function endsByItsCrowd(lacking: readonly Lacking[]): Promise<void> {
  using without = new WithoutLayers()
  const command = [process.execPath, '--input-type=module', '-e', program]
  const { stdout, stderr, exitCode } = await without.run(['cgroups', ...lacking], command)
  assert.equal(exitCode, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), { kind: 'limit-exceeded', limit: 'processes', allowed: 10_000 })
}
