/** JavaScript that never goes on: waits, promises, generators and microtasks that nothing ends but the wall limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, node, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: 500 }

const forever = {
  'Atomics.wait': `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  'Atomics.wait in every worker': `const { Worker } = await import('node:worker_threads')
    for (let i = 0; i < 3; i++) new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', { eval: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
  'microtasks without end': `const again = () => Promise.resolve().then(again); await again(); queueMicrotask(function next() { queueMicrotask(next) }); await new Promise(() => setInterval(() => {}, 1000))`,
  'a generator that ignores return': `const endless = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }), return: () => new Promise(() => setInterval(() => {}, 1000)) }) }
    for await (const one of endless) break`,
  'a regular expression': `/^(a+)+$/.test('a'.repeat(40) + 'b'); for (;;) {}`,
  'a WebAssembly loop': `new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,8,1,0,10,9,1,7,0,3,64,12,0,11,11])))`,
  'a thenable that never answers': `await { then() { for (;;) {} } }`,
  'a sleeping child waited for': `const { execSync } = await import('node:child_process'); execSync('sleep 60')`,
}

for (const runtime of [bun, node]) {
  for (const [name, code] of Object.entries(forever)) {
    test(`${runtime.runtime}: ${name} is timed-out at the deadline`, async () => {
      const { outcome } = await guests.run({ ...runtime, code: `console.log('up'); ${code}`, limits })
      assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 500 })
    })
  }
}
