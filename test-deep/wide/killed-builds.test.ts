/** A hundred hosts killed at random moments of building, replacing and removing environments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withoutPip } from '../../test/environments/packages.ts'
import { drawSeed } from '../../test/support/seed.ts'
import { killBuilds } from '../../test/support/sizes/killed-builds.ts'

const seed = drawSeed()
const rounds = 100

test(
  `after ${rounds} killed builds no name is broken, and nothing is left`,
  { skip: withoutPip, timeout: 20 * 60_000 },
  async (context) => {
    context.diagnostic(`seed ${seed}`)
    const { strikes } = await killBuilds({ seed, rounds })
    context.diagnostic(JSON.stringify(strikes))
    assert.equal(
      Object.values(strikes).reduce((sum, count) => sum + count, 0),
      rounds,
    )
  },
)
