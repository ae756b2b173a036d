import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import {
  and,
  answer,
  encode,
  ifAnyBit,
  ifAtLeast,
  ifEqual,
  load,
  skip,
} from '../../../src/jail/seccomp/instruction.ts'
import type { Instruction } from '../../../src/jail/seccomp/instruction.ts'
import { optimize } from '../../../src/jail/seccomp/optimize.ts'
import { runFilter } from './bpf-interpreter.ts'

const auditArchitecture = 0xc000003e
const small = fc.nat(5)
const offset = fc.constantFrom(0, 16, 24, 32)
const jump = fc.nat(12)
const anyInstruction: fc.Arbitrary<Instruction> = fc.oneof(
  offset.map(load),
  small.map(and),
  small.map(answer),
  jump.map(skip),
  ...[ifEqual, ifAtLeast, ifAnyBit].map((compare) =>
    fc.tuple(small, jump, jump).map((parts) => compare(...parts)),
  ),
)

/** Enough answers at the end that no jump leads past it. */
const ending = Array.from({ length: 13 }, (_, index) => answer(100 + index))

test('an optimized program gives the same answers', () => {
  const words = fc.array(small.map(BigInt), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(fc.array(anyInstruction, { maxLength: 60 }), small, words, (start, number, chosen) => {
      const program = [load(0), ...start, ...ending]
      const shorter = optimize(program)
      const call = { number, auditArchitecture, arguments: [...chosen, 0n, 0n, 0n] }
      assert.equal(runFilter(encode(shorter), call), runFilter(encode(program), call))
    }),
    { numRuns: 20_000 },
  )
})

test('a target that is further away than a comparison can jump is still reached', () => {
  const steps = 600
  // Each number has its own answer, so nothing can be shared; all misses lead to one answer at the far end.
  const program = Array.from({ length: steps }, (_, index) => [
    ifEqual(index, 0, 1),
    answer(1000 + index),
  ]).flat()
  const optimized = encode(
    optimize([load(0), ifAtLeast(steps, 0, 1), skip(program.length), ...program, answer(7)]),
  )
  for (const number of [0, 1, 299, 300, steps - 1])
    assert.equal(runFilter(optimized, { number, auditArchitecture }), 1000 + number)
  assert.equal(runFilter(optimized, { number: steps, auditArchitecture }), 7)
})

test('a word is loaded and compared once on each path', () => {
  const program = [load(16), ifEqual(1, 0, 2), load(16), ifEqual(1, 1, 0), answer(1), answer(2)]
  assert.deepEqual(optimize(program), [load(16), ifEqual(1, 1, 0), answer(1), answer(2)])
})
