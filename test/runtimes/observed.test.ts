import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readStatus, requirePromises } from '../../src/runtimes/work/observed.ts'

const none = '0000000000000000'
const promised = { CapPrm: none, CapEff: none, CapBnd: none, NoNewPrivs: '1', Seccomp: '2' }

test('a status shows the lines that a receipt needs, and tabs as spaces', () => {
  const status =
    'Name:\tcode\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t2\nSeccomp_filters:\t1\n'
  assert.deepEqual(readStatus(status), { Uid: '1000 1000 1000 1000', CapEff: none, Seccomp: '2' })
})

test('a process cannot forge lines with its name, which comes first and has no line breaks left', () => {
  // The kernel writes a line break in a name as \n, in two characters.
  assert.deepEqual(readStatus('Name:\tSeccomp:\\nSeccomp:\t2\nSeccomp:\t0\n'), { Seccomp: '0' })
  assert.deepEqual(readStatus('Seccomp:\t2'), {})
})

test('a guest with every promise kept may run', () => {
  assert.doesNotThrow(() => requirePromises(promised, promised))
})

for (const [name, value] of [
  ['CapPrm', '0000000000000001'],
  ['CapEff', '0000000000200000'],
  ['CapBnd', '000001ffffffffff'],
  ['NoNewPrivs', '0'],
  ['Seccomp', '0'],
  ['Seccomp', undefined],
] as const) {
  test(`a guest with ${name} ${value ?? 'unknown'} may not`, () => {
    const observed = Object.fromEntries(
      Object.entries({ ...promised, [name]: value }).filter(([, seen]) => seen !== undefined),
    ) as Record<string, string>
    assert.throws(() => requirePromises(promised, observed), {
      code: 'CELL_FAILED',
      message: new RegExp(`with ${name} ${value ?? 'unknown'} instead of`),
    })
  })
}
