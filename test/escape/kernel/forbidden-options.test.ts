/** Options, flags and requests: inside a run, the filter refuses every number that is not on an allowlist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { allowLists } from '../../../src/jail/seccomp/lists/allow-lists.ts'
import type { AllowList } from '../../../src/jail/seccomp/lists/allow-list.ts'
import { refusalErrno } from '../../../src/jail/seccomp/syscall-rule.ts'
import { expectedAnswer } from '../../jail/seccomp/expected-answer.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
const options = {
  architecture,
  memoryHeldByCgroup: guests.heldByCgroup,
  ...(guests.level === 'restricted' ? { sharesHost: { network: false, owner: false } } : {}),
} as const

// Without clone, which would start processes if allowed, and without sockets, which have their own test.
const triedElsewhere = ['clone', 'socket', 'socketpair']

/** Single bits for flags, small numbers for other arguments, and for ioctl all 16-bit numbers, which encode no size. */
function valuesOf(list: AllowList, name: string): readonly number[] {
  const bits = Array.from({ length: 32 }, (_, bit) => 2 ** bit)
  const numbers = Array.from({ length: name === 'ioctl' ? 0x10000 : 1100 }, (_, index) => index)
  return list.isFlags === true ? bits : [...numbers, ...bits]
}

/** Each call with its expected errno if the rules refuse it. The first argument is not a valid descriptor. */
function* refusedCalls(): Generator<readonly [string, number, readonly number[], number, string]> {
  for (const list of allowLists(false)) {
    for (const { name, numbers } of list.calls) {
      const number = numbers[architecture]
      if (number === undefined || triedElsewhere.includes(name)) continue
      const given = [list.argument === 0 ? 0 : 0xffffffff, 0, 0, 0, 0, 0]
      for (const condition of list.when ?? []) given[condition.argument] = firstOf(condition)
      const refused = valuesOf(list, name)
      const answers = Map.groupBy(refused, (value) =>
        expectedAnswer(options, number, given.with(list.argument, value).map(BigInt)),
      )
      for (const [answer, values] of answers) {
        if (answer === 'allowed' || answer === 'IGNORED') continue
        yield [name, number, given.with(list.argument, -1), refusalErrno[answer], packRanges(values)]
      }
    }
  }
}

const firstOf = (condition: NonNullable<AllowList['when']>[number]) =>
  'isOneOf' in condition ? (condition.isOneOf[0] ?? 0) : 0

/** Merges thousands of neighbouring numbers into ranges. */
function packRanges(values: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const value of values) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] + 1 === value) last[1] = value
    else ranges.push([value, value])
  }
  return JSON.stringify(ranges)
}

test('python: every option, flag and request that is on no allowlist is refused', async () => {
  const rows = [...refusedCalls()].map(
    ([name, number, given, errno, ranges]) =>
      `('${name}', ${number}, ${JSON.stringify(given)}, ${errno}, ${ranges})`,
  )
  assert.ok(rows.length > 40)
  const code = `
import ctypes, json
syscall = ctypes.CDLL(None, use_errno=True).syscall
wide = ctypes.c_uint64
wrong, tried = [], 0
for name, number, given, errno, ranges in [${rows.join(',\n')}]:
    at = given.index(-1)
    arguments = [wide(value) for value in given]
    for first, last in ranges:
        for value in range(first, last + 1):
            arguments[at] = wide(value)
            ctypes.set_errno(0)
            result = syscall(number, *arguments)
            tried += 1
            if result != -1 or ctypes.get_errno() != errno: wrong.append([name, hex(value), result, ctypes.get_errno()])
print(json.dumps([tried > 70000, wrong[:20]]))`
  const { outcome, stdout, stderr } = await guests.run({ ...python, code, limits: { wallMs: 60_000 } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), [true, []])
})
