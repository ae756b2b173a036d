/** SIGKILL of the host, of a stub, of a pid 1, whatever is going on at that moment. Many more of them, and without namespaces: test-deep. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fixedSeed } from '../../support/seed.ts'
import { strikeAtRandom, victims } from '../../support/sizes/sudden-deaths.ts'

const walls = {
  'with namespaces': { rounds: 3 },
}

for (const [wall, plan] of Object.entries(walls)) {
  test(`${wall} nothing is left after ${plan.rounds} kills at random moments`, async (context) => {
    const strikes = await strikeAtRandom({ seed: fixedSeed, ...plan })
    for (const victim of victims) context.diagnostic(`${victim}: ${JSON.stringify(strikes[victim])}`)
    assert.equal(
      victims.reduce((sum, victim) => sum + strikes[victim].count, 0),
      plan.rounds,
    )
  })
}
