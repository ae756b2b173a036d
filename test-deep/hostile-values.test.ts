/** The cost of messages of 16 MiB for the host: no hang, no crash, and proportional memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listFaults, lookAtMessage } from '../test/properties/hostile/find-faults.ts'
import { heavyValues } from '../test/properties/hostile/heavy-values.ts'
import { readRows } from '../test/properties/hostile/hostile-value.ts'

for (const value of readRows(heavyValues)) {
  test(`forged values do no harm: ${value.title}`, async () => {
    assert.deepEqual(await listFaults([value], lookAtMessage), [])
  })
}
