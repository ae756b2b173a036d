/**
 * The largest output that a request may ask for still gives a result. A string that is too long for the engine would be
 * a fault of Lazaret.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { limitRanges } from '../../../src/core/limits.ts'
import { heldPerByte } from '../../../src/result/capture.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const GiB = 1024 ** 3
// A client may have half of what is held: here all that the largest output takes.
const heldBytesMax = 2 * heldPerByte * (limitRanges.outputBytes.most + GiB / 64)
const { lazaret } = await useLazaret({ queue: { heldBytesMax } })

test('a program that prints more than the largest limit is limit-exceeded, and not a fault', async () => {
  const asked = { language: 'shell', code: 'exec cat /dev/zero' } as const
  const { outcome, stdout } = await lazaret.run({
    ...asked,
    limits: { outputBytes: limitRanges.outputBytes.most, wallMs: 120_000 },
  })
  assert.deepEqual([outcome.kind, stdout.length], ['limit-exceeded', limitRanges.outputBytes.most])
  await assert.rejects(lazaret.run({ ...asked, limits: { outputBytes: GiB } }), { code: 'INVALID_REQUEST' })
})
