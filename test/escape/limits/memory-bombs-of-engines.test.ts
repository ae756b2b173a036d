/** Memory bombs in JavaScript: every kind of memory that an engine allocates, for itself or for a program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { memoryBytes: 128 * 1024 * 1024, wallMs: ampleMs }

const anyEngine = {
  'string doubling': `const kept = []; let s = 'x'.repeat(1 << 20); for (;;) { s += s; s.charCodeAt(7); kept.push(s, JSON.stringify(s)) }`,
  'Array.fill': 'const a = []; for (;;) a.push(new Array(1 << 20).fill(a.length + 0.5))',
  BigInt: 'const a = []; for (let n = 1n; ; n++) a.push((1n << 8388607n) + n)',
  'regular expressions': `const a = []; const s = 'ab'.repeat(1 << 18); for (let i = 0; ; i++) a.push((s + i).replace(/(a)(b)/g, '$2$1$2'), [...s.matchAll(/ab/g)])`,
  'objects of many names':
    'const a = []; for (let i = 0; ; i++) { const o = {}; for (let j = 0; j < 1000; j++) o["k" + i + "_" + j] = j; a.push(o) }',
  'sets and weak maps':
    'const s = new Set(), w = new WeakMap(); for (let i = 0; ; i++) { const o = { i }; s.add(o); w.set(o, new Array(8).fill(i)) }',
  'closures and promises':
    'const a = []; for (let i = 0; ; i++) a.push(new Promise(() => {}).then(() => i), () => a)',
  'a growable shared buffer':
    'const a = []; for (;;) { const b = new SharedArrayBuffer(0, { maxByteLength: 1 << 22 }); b.grow(1 << 22); new Uint8Array(b).fill(1); a.push(b) }',
  'map growth': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])',
  'a resizable buffer':
    'const b = new ArrayBuffer(0, { maxByteLength: 2 ** 27 }); for (let n = 1; ; n++) { b.resize(n << 20); new Uint8Array(b).fill(1, (n - 1) << 20) }',
  'WebAssembly memory':
    'const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) { const at = m.grow(16) * 65536; new Uint8Array(m.buffer).fill(1, at) }',
}

for (const engine of [bun, node])
  for (const [name, code] of Object.entries(anyEngine))
    test(`${engine.runtime}: ${name} is out-of-memory, and the host's own memory stays flat`, async () => {
      const { outcome } = await keepMemoryFlat(() => guests.run({ ...engine, code, limits }))
      assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
    })
