/** The same tests in several sizes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { drawSeed } from '../seed.ts'
import { strikeAtRandom, victims } from './sudden-deaths.ts'
import type { Lacking } from '../hosts/without-layer.ts'

const seed = drawSeed()
/** A uid of no user, as in the daily suite. */
const plainUserId = 65_533

const isRoot = process.getuid?.() === 0
const userIds: Record<string, { userId?: number }> = isRoot
  ? { root: {}, 'an ordinary user': { userId: plainUserId } }
  : { 'an ordinary user': {} }

interface Rounds {
  readonly withNamespaces: number
  readonly withoutNamespaces: number
}

export function testSuddenDeaths({ withNamespaces, withoutNamespaces }: Rounds): void {
  const walls: Record<string, { rounds: number; lacking?: readonly Lacking[] }> = {
    ...(withNamespaces > 0 && { 'with namespaces': { rounds: withNamespaces } }),
    'without namespaces': { rounds: withoutNamespaces, lacking: ['user-namespaces'] },
  }
  for (const [wall, plan] of Object.entries(walls)) {
    for (const [who, as] of Object.entries(userIds)) {
      test(`${plan.rounds} sudden deaths under hosts of ${who}, ${wall}: nothing is left`, async (context) => {
        context.diagnostic(`seed ${seed}`)
        const strikes = await strikeAtRandom({ seed, ...plan, ...as })
        for (const victim of victims) context.diagnostic(`${victim}: ${JSON.stringify(strikes[victim])}`)
        assert.equal(
          victims.reduce((sum, victim) => sum + strikes[victim].count, 0),
          plan.rounds,
        )
      })
    }
  }
}
