/** The deadline also ends native calls, during which the interpreter cannot check it. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs'
import { after, describe, test } from 'node:test'

import { endSnippetThreads, runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'
import { nativeLoops } from './native-loops.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

after(endSnippetThreads)

const wallMs = 200
/** On an idle machine the answer to an endless program is a few milliseconds late. */
const lateMsMax = 2000

describe('a deadline ends', () => {
  for (const [what, source] of Object.entries(nativeLoops))
    test(what, async () => {
      await warmUpSnippets()
      const watch = startCalmWatch()
      const result = await runSnippet({ source, input: 'x'.repeat(8e6), limits: { wall_ms: wallMs } })
      const tookMs = watch()
      assert.deepEqual(result, { error: { code: 'TIMEOUT', message: `execution exceeded ${wallMs} ms` } })
      assert.ok(tookMs < wallMs + lateMsMax, `${tookMs} ms`)
    })
})

test('it cannot be caught', async () => {
  const source = 'for (;;) try { for (;;); } catch { emit(1) } finally { emit(2) }'
  assert.deepEqual(await runSnippet({ source, limits: { wall_ms: 50 } }), {
    error: { code: 'TIMEOUT', message: 'execution exceeded 50 ms' },
  })
})

test('a program that ends in time is not ended, even if others exceed their deadline', async () => {
  const all = Array.from({ length: 12 }, (_, index) =>
    runSnippet(
      index % 3 === 0
        ? { source: 'emit("in time")', limits: { wall_ms: 60_000 } }
        : { source: 'for (;;);', limits: { wall_ms: 20 } },
    ),
  )
  const results = await Promise.all(all)
  assert.equal(results.filter(({ output }) => output === 'in time').length, 4)
  assert.equal(results.filter(({ error }) => error?.code === 'TIMEOUT').length, 8)
})

test('waiting for a thread does not count towards the timeout', async () => {
  const ahead = Array.from({ length: 8 }, () => runSnippet({ source: 'for (;;);', limits: { wall_ms: 300 } }))
  const last = runSnippet({ source: 'emit(1)', limits: { wall_ms: 250 } })
  assert.deepEqual(await last, { output: '1' })
  for (const { error } of await Promise.all(ahead)) assert.equal(error?.code, 'TIMEOUT')
})

test('with the smallest limit, the answer is a result or a timeout', async () => {
  const results = await Promise.all(
    Array.from({ length: 20 }, () => runSnippet({ source: 'emit(1)', limits: { wall_ms: 1 } })),
  )
  for (const { output, error } of results) assert.ok(output === '1' || error?.code === 'TIMEOUT')
})

test('a program that ended in time is not timed out because its host was busy', async () => {
  await warmUpSnippets()
  const ended = runSnippet({ source: 'emit("in time")', limits: { wall_ms: 1000 } })
  await new Promise(setImmediate)
  // Both the answer and the deadline have arrived when the host's loop turns again.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
  assert.deepEqual(await ended, { output: 'in time' })
})

/** The phase of the host's event loop: before timers, or before messages. */
const moments = {
  'before timers': (then: () => void) => setImmediate(then),
  'before messages': (then: () => void) => stat('.', then),
}
for (const [moment, at] of Object.entries(moments))
  test(`a program that ended too late is timed out, though its host was busy ${moment}`, async () => {
    await warmUpSnippets()
    const ended = runSnippet({
      source: 'const start = Date.now(); while (Date.now() - start < 300); emit("late")',
      clock: 'real',
      limits: { wall_ms: 100 },
    })
    await new Promise<void>((resolve) => at(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900)
    assert.deepEqual(await ended, { error: { code: 'TIMEOUT', message: 'execution exceeded 100 ms' } })
  })
