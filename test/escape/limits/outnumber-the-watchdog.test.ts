/** More processes than a watchdog can list: what it cannot list it cannot measure, so the guest ends. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { WithoutLayers } from '../../support/hosts/without-layer.ts'
import type { Lacking } from '../../support/hosts/without-layer.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'

const isRoot = process.getuid?.() === 0
const without = new WithoutLayers()
after(() => without[Symbol.dispose]())

/** Processes that have ended and that nobody waits for: the cheapest kind. */
const crowd = `
import os, time
for _ in range(4500):
    if os.fork() == 0: os._exit(0)
print('all are there', flush=True)
time.sleep(${ampleMs / 1000})`

const noNamespaces: readonly Lacking[] = isRoot ? ['user-namespaces', 'sys-admin'] : ['user-namespaces']

for (const [where, lacking] of [
  ['in a cell', []],
  ['without namespaces', noNamespaces],
] as const)
  test(`4,500 processes ${where} end their run if no cgroup counts them`, async () => {
    const program = `
    import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'src/index.ts'))}
    const processesMax = 10_000
    const lazaret = createLazaret({ minimumProtection: 'restricted', ceilings: { processesMax } })
    const limits = { processesMax, wallMs: ${ampleMs} }
    const { outcome } = await lazaret.run({ language: 'python', code: ${JSON.stringify(crowd)}, limits })
    await lazaret[Symbol.asyncDispose]()
    process.stdout.write(JSON.stringify(outcome))`
    const command = [process.execPath, '--input-type=module', '-e', program]
    const { stdout, stderr, exitCode } = await without.run(['cgroups', ...lacking], command)
    assert.equal(exitCode, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), { kind: 'limit-exceeded', limit: 'processes', allowed: 10_000 })
  })
