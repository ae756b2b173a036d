/** The pages' statements about options, compared with the table of options. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { optionRows } from '../src/engine/options/option-table.ts'
import { readText } from './support/sources/checkout.ts'

test('the threat model lists exactly what a found configuration file may change', () => {
  const [row = ''] =
    readText('THREAT_MODEL.md').match(/^\| A configuration that somebody else wrote.*$/m) ?? []
  const [, , defence = ''] = row.split('|')
  const narrowing = optionRows.filter(([, { files }]) => typeof files !== 'string').map(([name]) => name)
  const named = [...defence.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  assert.deepEqual(new Set(named), new Set(narrowing))
})
