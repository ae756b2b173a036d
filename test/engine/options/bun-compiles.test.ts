/** Bun silently turns its compiler off if it cannot reserve the memory for it. This must not happen to a guest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bun, useLazaret } from '../../support/use-lazaret.ts'

const { run } = await useLazaret()

// Foreign functions need machine code that Bun generates, so it refuses them if the compiler is off.
const needsCompiler = `const { dlopen } = require('bun:ffi')
dlopen('libc.so.6', { getpid: { args: [], returns: 'i32' } }).symbols.getpid() === process.pid`

test('hot code is compiled in Bun, whatever enforces the memory limit', async () => {
  for (const memoryBytes of [64 * 1024 * 1024, 512 * 1024 * 1024]) {
    const { value, outcome } = await run({ ...bun, code: needsCompiler, limits: { memoryBytes } })
    assert.equal(value, true, JSON.stringify(outcome))
  }
})
