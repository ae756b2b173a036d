/** Programs that print or compute for ever. */
import { bun, node, python, shell } from '../use-lazaret.ts'

const oneLine = `const piece = Buffer.alloc(1 << 20, 120); const fs = await import('node:fs')
  const write = (bytes) => { try { return fs.writeSync(1, bytes) } catch (error) { if (error.code !== 'EAGAIN') throw error; return 0 } }
  for (let i = 0; i < 1024; i++) for (let rest = piece; rest.length > 0; ) rest = rest.subarray(write(rest))`

/** Each with the start of its output. */
export const outputFloods = {
  'shell: yes': { ...shell, code: 'yes', prefix: 'y\ny\ny\n' },
  'shell: one line of 1 GB': {
    ...shell,
    code: `head -c 1000000000 /dev/zero | tr '\\0' x`,
    prefix: 'xxxxxxxx',
  },
  'python: one line of 1 GB': {
    ...python,
    code: 'import sys\nfor _ in range(1024): sys.stdout.write("x" * (1 << 20))',
    prefix: 'xxxxxxxx',
  },
  'bun: one line of 1 GB': { ...bun, code: oneLine, prefix: 'xxxxxxxx' },
  'node: one line of 1 GB': { ...node, code: oneLine, prefix: 'xxxxxxxx' },
}

/** JavaScript that never reaches its next statement. */
export const endlessJavascript = {
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
