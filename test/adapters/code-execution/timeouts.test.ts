/** Ways to go on without end: each is TIMEOUT, at the deadline, and the next program runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useService } from './use-service.ts'

const { execute, outputOf } = useService({ poolSize: 1 })
const timeoutSeconds = 0.25
/** The promise is 50 ms. On a machine where others work, a process may wait for its turn for longer. */
const lateMs = 250

const loops: Readonly<Record<string, string>> = {
  'a loop': 'for (;;);',
  'a loop that does something': 'let n = 0; while (true) { n = Math.sqrt(n + 1) }',
  'a loop that catches everything': 'for (;;) { try { for (;;); } catch {} finally { for (;;); } }',
  recursion: 'const f = () => { try { f() } finally { f() } }; f()',
  'a pattern that tries everything': '/^(a+)+$/.test("a".repeat(50) + "b")',
  microtasks: 'for (;;) await 0',
  'microtasks that make more': 'const f = () => Promise.resolve().then(f).then(f); await f()',
  'a getter while output is read': 'output = { get a() { for (;;); } }',
  'toJSON while output is read': 'output = { toJSON() { for (;;); } }',
  'a proxy while output is read': 'output = new Proxy({}, { ownKeys() { for (;;); } })',
  'a log that never ends to be written':
    'console.log({ get a() { for (;;); }, [Symbol.toStringTag]: "x" }); for (;;);',
  'a thenable': 'await { then() { for (;;); } }',
  'a generator': 'function* f() { for (;;) yield 1 }; for (const a of f());',
  'one long call of the engine':
    'new Array(2 ** 31).indexOf(1); "a".repeat(2 ** 28).split("").sort(); for (;;);',
  'a big number': 'let n = 3n; for (;;) n = (n * n) % (1n << 200000n)',
  'a library': "const _ = require('lodash'); _.times(Number.MAX_SAFE_INTEGER, () => 0)",
  'sorting by a function': 'for (;;) [3, 1, 2].sort(() => { for (;;); })',
}

for (const [name, code] of Object.entries(loops))
  test(`${name}: TIMEOUT at the deadline, and the next program runs`, async () => {
    const {
      success,
      error,
      errorType,
      executionTimeMs = 0,
    } = await execute(code, { timeoutSeconds, memoryLimitMB: 512 })
    assert.deepEqual([success, errorType], [false, 'TIMEOUT'], error)
    assert.equal(error, 'Code execution exceeded timeout of 0.25 seconds')
    const late = executionTimeMs - timeoutSeconds * 1000
    assert.ok(late > -5 && late < lateMs, `${late} ms after the deadline`)
    assert.equal(await outputOf('output = 1'), 1)
  })
