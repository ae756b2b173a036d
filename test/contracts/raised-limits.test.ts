/** Parked workers are started with the operator's default limits, but a run may request higher ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'

test('a parked worker serves a run with more processor time than the default', async () => {
  await using lazaret = createLazaret({ defaults: { cpuMs: 2000 }, onEvent() {} })
  const code = 'import resource\nresource.getrlimit(resource.RLIMIT_CPU)[0]'
  await lazaret.warmUp({ language: 'python' })
  const { start, value, limits } = await run({ cpuMs: 60_000 })
  assert.notEqual(start, 'cold')
  assert.ok(Number(value) > 60, String(value))
  assert.equal(limits.cpuMs.value, 60_000)
  await lazaret.warmUp({ language: 'python' })
  assert.ok(Number((await run({})).value) < 5)

  async function run(asked: { readonly cpuMs?: number }) {
    const { receipt, value: seconds } = await lazaret.run({ language: 'python', code, limits: asked })
    return { start: receipt.start, limits: receipt.limits, value: seconds }
  }
})
