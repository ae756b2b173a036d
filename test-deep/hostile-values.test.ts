/** What messages of 16 MiB cost the host at most: no hang, no crash, and memory in proportion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listFaults, lookAtMessage } from '../test/properties/hostile/find-faults.ts'
import { heavyValues } from '../test/properties/hostile/heavy-values.ts'
import { readRows } from '../test/properties/hostile/hostile-value.ts'

for (const value of readRows(heavyValues)) {
  test(`${value.title}, forged, harm nobody`, async () => {
    assert.deepEqual(await listFaults([value], lookAtMessage), [])
  })
}
