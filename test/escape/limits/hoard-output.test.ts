/** Output that many runs keep at one time: together more than the host can hold, although each may have so much. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { heldPerByte } from '../../../src/result/capture.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { shell, useLazaret } from '../../support/use-lazaret.ts'

const MiB = 1024 * 1024
const heldBytesMax = 64 * MiB
const { lazaret } = await useLazaret({ queue: { heldBytesMax } })
const reason = await whyNoSandboxes()

/** Bytes that are no text: each becomes a character of two bytes. */
const print = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' '\\377'`
const limits = { outputBytes: 256 * MiB, wallMs: ampleMs }
const share = heldBytesMax / 2 / heldPerByte

test('runs of one client that print too much together are cut, and those of others are not', async () => {
  await keepHeldFlat(async () => {
    const floods = Array.from({ length: 4 }, () =>
      lazaret.run({ ...shell, code: print(32 * MiB), limits, client: 'mallory' }),
    )
    const { stdout } = await lazaret.run({ ...shell, code: print(MiB), limits, client: 'honest' })
    assert.equal(stdout.length, MiB)
    let kept = 0
    for (const { outcome, stdout: part, truncated } of await Promise.all(floods)) {
      assert.deepEqual([outcome.kind, truncated], ['completed', ['stdout']])
      kept += part.length
    }
    assert.ok(kept <= 4 * share, `${kept} bytes were kept`)
  })
  assert.equal(lazaret.stats().held.kinds.output, 0)
})

test('what nobody keeps is not counted', async () => {
  let taken = 0
  const onOutput = ({ bytes }: { readonly bytes: Uint8Array }) => void (taken += bytes.length)
  const code = print(32 * MiB)
  await lazaret.run({ ...shell, code, limits, client: 'mallory', keepOutput: false, onOutput })
  assert.equal(taken, 32 * MiB)
})

test(
  'the output of a command and of the code of a context is cut in the same way',
  { skip: reason },
  async () => {
    await using sandbox = await lazaret.sandbox({ client: 'mallory', limits: { outputBytes: 256 * MiB } })
    const code = `import os\nfor _ in range(32): os.write(1, b'\\xff' * 2**20)`
    for (const { stdout, truncated } of [await sandbox.exec(print(32 * MiB)), await sandbox.runCode(code)]) {
      assert.deepEqual(truncated, ['stdout'])
      assert.ok(stdout.length <= share && stdout.length > share / 2)
    }
    assert.equal((await sandbox.exec('echo still there')).stdout, 'still there\n')
    assert.equal((await sandbox.runCode('print(1)')).stdout, '1\n')
    assert.equal(lazaret.stats().held.kinds.output, 0)
  },
)
