/** Values, displays and files of results: together more than the host can hold, although each may have so much. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { shell, useLazaret } from '../../support/use-lazaret.ts'

const MiB = 1024 * 1024
const { lazaret } = await useLazaret({ queue: { heldBytesMax: 8 * MiB } })
const limits = { resultBytes: 8 * MiB, wallMs: ampleMs }

test('a value, displays and files that find no room are left out, and the rest of the result is there', async () => {
  const code = `display({"text/html": "d" * 2**21}, raw=True)\nprint("end")\n"v" * 2**21`
  const { stdout, value, displays, truncated, outcome } = await lazaret.run({
    language: 'python',
    code,
    limits,
  })
  assert.deepEqual([outcome.kind, stdout, value], ['completed', 'end\n', undefined])
  assert.deepEqual(displays, [])
  assert.deepEqual(truncated.toSorted(), ['displays', 'value'])
  const collecting = { ...shell, code: 'head -c 3M /dev/zero > large', collect: ['large'], limits }
  assert.deepEqual((await lazaret.run(collecting)).truncated, ['files'])
  assert.equal(lazaret.stats().held.bytes, 0)
})

test('what finds room is counted until its run ends, and many small displays too', async () => {
  const code = `for _ in range(400): display("d" * 10_000)\n"v" * 2**18`
  let peak = 0
  const onDisplay = () => void (peak = Math.max(peak, lazaret.stats().held.kinds.output))
  const { value, displays, truncated } = await lazaret.run({ language: 'python', code, limits, onDisplay })
  assert.ok(displays.length > 20 && displays.length < 400, `${displays.length} displays`)
  assert.ok(truncated.includes('displays'))
  assert.ok(peak > 10_000 * displays.length)
  assert.equal(value, undefined)
  assert.equal(lazaret.stats().held.bytes, 0)
})
