import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import { requireEnforced } from '../../src/policy/require-enforced.ts'
import { limitMechanisms } from '../../src/jail/limits/plan-limits.ts'

const held = limitMechanisms({ cgroupVersion: 1, level: 'strong', identity: 'own' })
const watched = limitMechanisms({ cgroupVersion: null, level: 'standard', identity: 'shared' })
const unheld = { ...watched, processesMax: 'none', cpuMs: 'none' } as const

test('limits that can be enforced are accepted', () => {
  requireEnforced(defaultLimits, held, [])
  requireEnforced({ ...defaultLimits, cpuMs: 1 }, watched, [])
})

test('a limit that nothing can enforce is refused by name', () => {
  assert.throws(() => requireEnforced(defaultLimits, unheld, []), {
    code: 'LIMIT_UNENFORCEABLE',
    message: /processesMax\.$/,
  })
})

test('a limit that the run does not set needs no enforcement', () => {
  assert.throws(
    () => requireEnforced(defaultLimits, unheld, []),
    (error: Error) => !error.message.includes('cpuMs'),
  )
  assert.throws(() => requireEnforced({ ...defaultLimits, cpuMs: 1 }, unheld, []), { message: /cpuMs/ })
})

test('the operator may allow a limit to be unenforced', () => {
  requireEnforced(defaultLimits, unheld, ['processesMax'])
})
