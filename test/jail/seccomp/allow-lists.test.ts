/** The allowlists as data, and the page that is generated from them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { refuseOthers } from '../../../src/jail/seccomp/lists/allow-list.ts'
import { allowLists } from '../../../src/jail/seccomp/lists/allow-lists.ts'
import { readText } from '../../support/sources/checkout.ts'
import { expectedAnswer } from './expected-answer.ts'
import { describeLists } from './kernel-surface.ts'

const lists = allowLists(false)
const usual = { architecture: 'x64', memoryHeldByCgroup: true } as const

describe('every allowlist', () => {
  it('lists for each value its name, its use and its users, and for the others why they are refused', () => {
    for (const { calls, reason, allowed } of lists) {
      const name = calls.map((call) => call.name).join(', ')
      assert.match(reason, /^[A-Z].{10,}\.$/, name)
      assert.ok(allowed.length > 0, name)
      for (const one of allowed) {
        assert.match(one.use, /^[A-Z].{3,}\.$/, `${name} ${one.name}`)
        assert.ok(one.name.length > 2 && one.neededBy.length > 2, `${name} ${one.name}`)
        assert.ok(one.value >= 0 && one.value <= 0xffffffff, `${name} ${one.name}`)
      }
    }
  })

  it('names a value once', () => {
    for (const { calls, allowed } of lists) {
      const values = allowed.map(({ value }) => value)
      assert.equal(new Set(values).size, values.length, calls[0]?.name)
    }
  })

  it('refuses each unlisted 16-bit value, and each unlisted bit', () => {
    const bits = Array.from({ length: 32 }, (_, bit) => 2 ** bit)
    for (const list of lists) {
      if (list.isFlags !== undefined || list.mask !== undefined) continue
      const [call] = list.calls
      const known = new Set(list.allowed.map(({ value }) => value))
      const given: bigint[] = Array(6).fill(0n)
      for (const test of list.when ?? [])
        given[test.argument] = BigInt('isOneOf' in test ? (test.isOneOf[0] ?? 0) : 0)
      const rules = refuseOthers(list)
      for (const value of [...Array(2048).keys(), ...bits]) {
        given[list.argument] = BigInt(value)
        const answer = expectedAnswer(usual, call?.numbers.x64 ?? -1, given)
        if (!known.has(value)) assert.notEqual(answer, 'allowed', `${call?.name} ${given.join(' ')}`)
      }
      assert.equal(rules.length, list.calls.length)
    }
  })
})

describe('docs/internals/kernel-surface.md', () => {
  it('has the tables that are generated from the lists', () => {
    const page = readText('docs/internals/kernel-surface.md')
    assert.equal(page.slice(page.indexOf('## ')), describeLists(lists))
  })
})
