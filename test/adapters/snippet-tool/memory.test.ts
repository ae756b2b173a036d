/** The memory that a program may use, and that none of it remains in the host. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import { testMemoryOfMany } from '../../support/sizes/snippet-memory-tests.ts'

after(endSnippetThreads)

const limits = { wall_ms: 60_000 }
const memoryLimit = { error: { code: 'MEMORY_LIMIT', message: 'memory exceeded 32 MiB' } }

/** Each allocates memory until there is no more. */
const hungry = {
  strings: `for (;; n++) hold.push('x'.repeat(1e4) + n)`,
  'one long string': `for (;; n++) hold.push('x'.repeat(2 ** n))`,
  arrays: `for (;; n++) hold.push(Array(1000).fill(n))`,
  objects: `for (;; n++) hold.push({ n })`,
  'typed arrays': `for (;; n++) hold.push(new Uint8Array(1e5))`,
  'array buffers that grow': `const b = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); for (;; n++) b.resize(n * 65536)`,
  maps: `const m = new Map(); for (;; n++) m.set(n, n)`,
  closures: `for (;; n++) { const big = [n, n, n]; hold.push(() => big) }`,
  'regular expressions': `for (;; n++) hold.push(new RegExp('(a|b)*' + n))`,
  getters: `for (;; n++) hold.push({ get x() { return n } })`,
  bigints: `for (;; n++) hold.push(2n ** 10000n + BigInt(n))`,
  generators: `for (;; n++) { const g = (function* () { yield n })(); g.next(); hold.push(g) }`,
  proxies: `for (;; n++) hold.push(new Proxy({}, {}))`,
  errors: `for (;; n++) hold.push(new Error('x' + n))`,
  'recursion that holds': `function f(depth) { const own = Array(1e4).fill(depth); hold.push(own); return f(depth + 1) } f(0)`,
}

describe('an exhausted memory', () => {
  for (const [what, code] of Object.entries(hungry)) {
    test(`that is not caught: ${what}`, async () => {
      assert.deepEqual(
        await runSnippet({ source: `const hold = []; let n = 0; ${code}`, limits }),
        memoryLimit,
      )
    })

    test(`after which a program can continue: ${what}`, async () => {
      const source = `let hold = [], n = 0; const eat = () => { ${code} }
        try { eat() } catch (e) { hold = null; emit(n > 0 ? 'caught' : 'caught at ' + n) }
        emit(' and ' + [1, 2, 3].map((x) => x * 2))`
      const { output, error } = await runSnippet({ source, limits })
      assert.deepEqual([output?.replace('caught at 0', 'caught'), error], ['caught and 2,4,6', undefined])
    })
  }

  test('cannot be extended by a catch that allocates more', async () => {
    const source = `const hold = []; const eat = () => { for (;;) hold.push('x'.repeat(1e4) + hold.length) }
      for (let i = 0; i < 50; i++) try { eat() } catch {}
      emit(hold.length < 4000)`
    const { output } = await runSnippet({ source, limits })
    assert.equal(output, 'true')
  })

  test('a program notices if there is too little memory for an input or an emit', async () => {
    const source = `const hold = [], seen = new Set()
      try { for (;;) hold.push('x'.repeat(1e4) + hold.length) } catch {}
      try { read_input() } catch (e) { seen.add(e === null || /^out of memory/.test(e.message)) }
      const text = hold.join
      try { emit('y'.repeat(1e6)) } catch (e) { seen.add(e === null || /^out of memory/.test(e.message)) }
      hold.length = 0
      emit([...seen] + read_input().length)`
    const { output } = await runSnippet({ source, input: 'z'.repeat(8e6), limits })
    assert.equal(output, 'true8000000')
  })

  test('a forged error is not taken for exhausted memory', async () => {
    for (const source of [
      `throw new Error('out of memory')`,
      `throw Object.assign(new Error(''), { name: 'InternalError', message: 'out of memory' })`,
      `const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy`,
      `throw null`,
    ])
      assert.equal((await runSnippet({ source, limits })).error?.code, 'EVAL_ERROR')
  })
})

testMemoryOfMany(30)
