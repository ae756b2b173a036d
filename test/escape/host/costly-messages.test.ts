/** Short messages that are expensive for the host to read: with keys that no other object has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { forgeManyKeys } from '../../support/hostile/forged-messages.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: ampleMs, hostMs: ampleMs }

test('a value with a million different keys is not read, and the result says so', async () => {
  const code = forgeManyKeys('value', '"text":"","truncated":false,"value":')
  const { outcome, value, truncated } = await keepHeldFlat(() => guests.run({ ...python, code, limits }))
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.equal(value, undefined)
  assert.deepEqual(truncated, ['value'])
})

test('a call with a million different keys is refused, and the function is not called', async () => {
  let calls = 0
  const functions = { count: () => ++calls }
  const code = forgeManyKeys('call', '"id":1,"name":"count","args":')
  const answer = "\nlength = struct.unpack('<I', os.read(3, 4))[0]\nprint(os.read(3, length).decode())"
  const run = guests.run({ ...python, code: code + answer, functions, limits })
  const { outcome, stdout } = await keepHeldFlat(() => run)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.match(stdout, /"type":"throw","id":1,.*RangeError/)
  assert.equal(calls, 0)
})
