import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'

import { architectures } from '../../../src/jail/seccomp/architectures.ts'
import type { Architecture } from '../../../src/jail/seccomp/architectures.ts'
import { planRules } from '../../../src/jail/seccomp/policy.ts'
import { headers, isOf32Bit, readNumbers } from './kernel-headers.ts'
import { everyRule, everySituation } from './situations.ts'

describe('the system call policy', () => {
  it('gives a reason for every rule', () => {
    for (const rule of everyRule) assert.match(rule.reason, /^[A-Z].{10,}\.$/, rule.name)
  })

  it('has no duplicate rules', () => {
    for (const situation of everySituation('x64')) {
      const seen = planRules(situation).map((rule) => JSON.stringify([rule.name, rule.tests, rule.action]))
      const twice = seen.filter((entry, index) => seen.indexOf(entry) !== index)
      // If the host's IPC is shared and memory is not counted, both tables refuse to create segments.
      const isBoth = situation.sharesHost !== undefined && !situation.memoryHeldByCgroup
      const expected = isBoth ? ['shmget', 'shmat', 'semget', 'msgget'] : []
      assert.deepEqual(
        twice.map((entry) => JSON.parse(entry)[0]),
        expected,
      )
    }
  })

  it('gives each number to one call, on each architecture', () => {
    for (const architecture of ['x64', 'arm64'] as const) {
      const names = new Map<number, string>()
      for (const { name, numbers } of everyRule) {
        const number = numbers[architecture]
        if (number === undefined) continue
        assert.equal(names.get(number) ?? name, name, `${architecture} ${number}`)
        names.set(number, name)
      }
    }
  })

  it('uses one number for a call wherever it is mentioned', () => {
    const numbers = Map.groupBy(everyRule, (rule) => rule.name)
    for (const [name, rules] of numbers) {
      assert.equal(new Set(rules.map((rule) => JSON.stringify(rule.numbers))).size, 1, name)
    }
  })

  it('tests arguments that exist, against values of 32 bits', () => {
    for (const { name, tests = [] } of everyRule) {
      for (const test of tests) {
        const values = 'isOneOf' in test ? test.isOneOf : test.isNoneOf
        assert.ok(test.argument >= 0 && test.argument <= 5, name)
        assert.ok(values.length > 0, name)
        for (const value of values) assert.ok(value >= 0 && value <= 0xffffffff, name)
        // A value with bits outside the mask could never be equal.
        if (test.mask !== undefined) for (const value of values) assert.equal(value & ~test.mask, 0, name)
      }
    }
  })

  it('has only numbers that were reviewed', () => {
    for (const [architecture, facts] of Object.entries(architectures)) {
      for (const { name, numbers } of everyRule) {
        const number = numbers[architecture as Architecture]
        if (number === undefined) continue
        assert.ok(number <= facts.newestReviewed, name)
        assert.ok(!facts.unassigned.some(([first, last]) => number >= first && number <= last), name)
      }
    }
  })
})

for (const architecture of ['x64', 'arm64'] as const) {
  const header = headers[architecture]
  const isMissing = existsSync(header) ? false : `${header} is not installed (linux-libc-dev)`

  describe(`the ${architecture} numbers`, { skip: isMissing }, () => {
    it('are those of the kernel’s headers', (context) => {
      const known = readNumbers(header)
      const newest = Math.max(...known.values())
      const unchecked = new Set<string>()
      for (const { name, numbers } of everyRule) {
        const number = numbers[architecture]
        if (number !== undefined && number > newest) unchecked.add(`${name} ${number}`)
        else assert.equal(number, known.get(name), name)
      }
      if (unchecked.size > 0) {
        context.diagnostic(`headers end at ${newest}; not checked: ${[...unchecked].join(', ')}`)
      }
    })

    it('of newer calls are the same on every architecture', () => {
      for (const { name, numbers } of everyRule) {
        if ((numbers.x64 ?? 0) >= 424) assert.equal(numbers.arm64, numbers.x64, name)
      }
    })

    it('do not treat a call of the kernel’s headers as unassigned', (context) => {
      const { unassigned, newestReviewed } = architectures[architecture]
      const known = readNumbers(header)
      const newest = Math.max(...known.values())
      if (newest > newestReviewed) context.diagnostic(`calls up to ${newest} wait for a review`)
      for (const [first, last] of unassigned) {
        for (const [name, number] of known) {
          if (isOf32Bit(number)) continue
          assert.ok(number < first || number > last, `${name} ${number} lies in a hole`)
        }
      }
    })
  })
}
