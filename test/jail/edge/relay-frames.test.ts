import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { closedBecause, doorsMax, relayFrame } from '../../../src/jail/edge/relay-frames.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'

const header = readFileSync(join(checkoutRoot, 'native/relay/relay.h'), 'utf8')

function numbersOf(prefix: string): Record<string, number> {
  const found = header.matchAll(new RegExp(`\\b${prefix}_([A-Z]+) = (\\d+)`, 'g'))
  return Object.fromEntries([...found].map(([, name = '', value]) => [name.toLowerCase(), Number(value)]))
}

test('both sides have the same numbers', () => {
  assert.deepEqual(numbersOf('RELAY'), { ...relayFrame })
  assert.deepEqual(numbersOf('WHY'), { ...closedBecause })
  assert.equal(Number(/DOORS_MAX = (\d+)/.exec(header)?.[1]), doorsMax)
})
