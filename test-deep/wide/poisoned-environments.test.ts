/** A hundred hostile builds whose races are helped, each before two builds of the victim's environment at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withoutPip } from '../../test/environments/packages.ts'
import { useEnvironments } from '../../test/environments/use-environments.ts'
import { poisonEnvironment, requireSameFromLock } from '../../test/support/sizes/poisoned-environments.ts'

const ground = await useEnvironments()
const attacks = 100

test(
  `none of ${attacks} hostile builds changes another environment`,
  { skip: withoutPip, timeout: 60 * 60_000 },
  async (context) => {
    const ends = { built: 0, refused: 0 }
    for (let attack = 0; attack < attacks; attack++) {
      ends[await poisonEnvironment(ground, attack)]++
      if (attack === attacks - 1) await requireSameFromLock(ground)
      await ground.lazaret.environments.remove('victim')
    }
    context.diagnostic(JSON.stringify(ends))
    assert.deepEqual(ends, { built: attacks / 2, refused: attacks / 2 })
  },
)
