/** A sandbox whose end fails, because something of it cannot be removed. */
import assert from 'node:assert/strict'
import { mkdirSync, rmdirSync } from 'node:fs'
import { test } from 'node:test'

import { useLazaret } from '../support/use-lazaret.ts'
import { listCgroups } from '../support/leaks.ts'

const { lazaret, heldByCgroup } = await useLazaret({ onEvent: () => undefined })
const skip = !heldByCgroup && 'there are no cgroups to be stuck'

test('an end that fails is told to whoever asked for it, and to nobody else', { skip }, async () => {
  const before = new Set(listCgroups())
  const sandbox = await lazaret.sandbox({ id: 'stuck' })
  const made = listCgroups().filter((path) => !before.has(path))
  for (const path of made) mkdirSync(`${path}/stuck`)
  try {
    // Nobody waits when the kernel ends it, or idleness does: a rejection that nobody hears would end the host.
    await assert.rejects(sandbox.destroy())
    await (await lazaret.sandbox({ id: 'stuck' })).destroy()
  } finally {
    for (const path of made) rmdirSync(`${path}/stuck`)
    for (const path of listCgroups()) if (!before.has(path)) rmdirSync(path)
  }
})
