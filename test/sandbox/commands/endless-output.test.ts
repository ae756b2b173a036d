/** A background process may print for ever: the log, and so the host's memory, keeps only the end of its output. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { createLazaret } from '../../support/create-lazaret.ts'

const MiB = 1024 * 1024
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const lazaret = createLazaret({ onEvent: () => undefined })
after(() => lazaret[Symbol.asyncDispose]())

for (const [kind, tty, printedMiB] of [
  ['in pipes', undefined, 300],
  ['in a terminal', { columns: 80, rows: 24 }, 4],
] as const)
  test(`output of a process ${kind} continues beyond the budget of a command, and does not accumulate`, async () => {
    await using sandbox = await lazaret.sandbox({ limits: { outputBytes: MiB } })
    const enough = Promise.withResolvers<void>()
    let bytes = 0
    const printer = await sandbox.startProcess('yes 0123456789012345678901234567890123456789', {
      ...(tty === undefined ? {} : { tty }),
      onOutput: (chunk) => {
        bytes += chunk.bytes.length
        if (bytes > printedMiB * MiB) enough.resolve()
      },
    })
    await enough.promise
    await sandbox.killProcess(printer.id)
    const held = await heldBytes(32 * MiB)
    assert.ok(held < 32 * MiB, `${held} bytes`)
    assert.equal(printer.getLogs().stdout.length <= MiB, true)
  })

/** Unreferenced buffers are freed late, some only after the sweep of an earlier garbage collection. */
async function heldBytes(enough: number): Promise<number> {
  for (let collections = 0; collections < 50 && process.memoryUsage().arrayBuffers >= enough; collections++) {
    collectGarbage()
    await setImmediate()
  }
  return process.memoryUsage().arrayBuffers
}
