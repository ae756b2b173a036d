/**
 * No call is forgotten: each call in the kernel's headers is allowed by design, named by a rule, or answered with
 * ENOSYS.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

import { architectures } from '../../../src/jail/seccomp/architectures.ts'
import { seccompProgram } from '../../../src/jail/seccomp/program.ts'
import { runFilter } from './bpf-interpreter.ts'
import { headers, isOf32Bit, readNumbers } from './kernel-headers.ts'
import { architecturesTested, everyRule, everySituation } from './situations.ts'

const allowed = 0x7fff0000
const doesNotExist = 0x00050000 | 38

const list = readFileSync(new URL('fixtures/allowed-syscalls.txt', import.meta.url), 'utf8')
const allowedByDesign = new Set(
  list
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(' '))
    .filter((name) => name !== ''),
)
const named = new Set(everyRule.map(({ name }) => name))

describe('the list of allowed calls', () => {
  it('names no call that a rule names', () => {
    assert.deepEqual(
      [...allowedByDesign].filter((name) => named.has(name)),
      [],
    )
  })
})

for (const architecture of architecturesTested) {
  const { auditArchitecture, newestReviewed, unassigned } = architectures[architecture]
  const header = headers[architecture]
  const isUnknown = (number: number) =>
    number > newestReviewed || unassigned.some(([first, last]) => first <= number && number <= last)
  const isMissing = existsSync(header) ? false : `${header} is not installed (linux-libc-dev)`

  describe(`on ${architecture}, each call of the kernel’s headers`, { skip: isMissing }, () => {
    it('is allowed by design, named by a rule, or answered with ENOSYS', () => {
      const forgotten = [...readNumbers(header)].filter(
        ([name, number]) => !isUnknown(number) && !allowedByDesign.has(name) && !named.has(name),
      )
      assert.deepEqual(forgotten, [])
    })

    it('that is allowed by design is allowed in every situation', () => {
      for (const situation of everySituation(architecture)) {
        const program = seccompProgram(situation)
        for (const [name, number] of readNumbers(header)) {
          if (!allowedByDesign.has(name) || isOf32Bit(number)) continue
          const expected = isUnknown(number) ? doesNotExist : allowed
          assert.equal(runFilter(program, { number, auditArchitecture }), expected, name)
        }
      }
    })
  })

  describe(`on ${architecture}, a number that a newer kernel gives away`, () => {
    it('does not exist in any situation: the tables end where the review did', () => {
      const numbers = [...Array.from({ length: 4096 }, (_, index) => newestReviewed + 1 + index)]
      for (let bit = 13; bit < 32; bit++) numbers.push(2 ** bit, 2 ** bit + newestReviewed, 2 ** bit + 39)
      for (const [first, last] of unassigned)
        for (let number = first; number <= last; number++) numbers.push(number)
      for (const situation of everySituation(architecture)) {
        const program = seccompProgram(situation)
        const answers = new Set(numbers.map((number) => runFilter(program, { number, auditArchitecture })))
        assert.deepEqual([...answers], [doesNotExist], JSON.stringify(situation))
      }
    })
  })
}
