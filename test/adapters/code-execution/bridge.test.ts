/** Functions of the host that programs call, and the signal that ends a program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { useService } from './use-service.ts'

const { execute, outputOf, errorOf } = useService()

test('a program calls functions of the host with JSON', async () => {
  const seen: unknown[] = []
  const bridge = {
    add: async ({ a, b }: { a: number; b: number }) => a + b,
    plain: (value: unknown) => seen.push(value),
  }
  const code = `const { add, plain } = bridge
    await plain({ date: new Date(0), list: [NaN] }); await plain()
    output = [await add({ a: 1, b: 2 }), ...await Promise.all([add({ a: 2, b: 2 }), add({ a: 2, b: 3 })])]`
  assert.deepEqual(await outputOf(code, { bridge: bridge as never }), [3, 4, 5])
  assert.deepEqual(seen, [{ date: '1970-01-01T00:00:00.000Z', list: [null] }, undefined])
})

test('results of functions are JSON: dates become texts, and undefined becomes null', async () => {
  const bridge = { date: () => new Date(0), nothing: () => undefined, map: async () => new Map([[1, 2]]) }
  assert.deepEqual(
    await outputOf('output = [await bridge.date(), await bridge.nothing(), await bridge.map()]', { bridge }),
    ['1970-01-01T00:00:00.000Z', null, {}],
  )
})

test('tags of another encoding are plain data on the bridge', async () => {
  const data = { $type: 'Date', value: { $type: 'Map', entries: [] } }
  const seen: unknown[] = []
  const bridge = { echo: (value: unknown) => (seen.push(value), value) }
  assert.deepEqual(await outputOf('output = await bridge.echo(input)', { inputData: data, bridge }), data)
  assert.deepEqual(seen, [data])
})

test('an unknown name, an error of the handler and the limit are ordinary errors', async () => {
  const bridge = {
    fails: () => Promise.reject(new TypeError('no such row')),
    throws: () => {
      throw new Error('at once')
    },
    cyclic: () => {
      const cyclic: { me?: unknown } = {}
      return (cyclic.me = cyclic)
    },
    big: () => 1n,
    fine: () => 1,
  }
  const code = `output = []
    for (const name of ['missing', 'fails', 'throws', 'cyclic', 'big', 'fine', 'fine'])
      try { await bridge[name](1); output.push(name) }
      catch (error) { output.push([error instanceof Error, error.message]) }`
  const output = (await outputOf(code, { bridge, maxBridgeCalls: 5 })) as [boolean, string][]
  assert.ok(output.slice(0, 5).every(([isError]) => isError))
  assert.match(output[0]?.[1] ?? '', /not a function/)
  assert.deepEqual(
    output.slice(1, 3).map(([, message]) => message),
    ['no such row', 'at once'],
  )
  assert.equal(output[5], 'fine')
  assert.match(output[6]?.[1] ?? '', /5 times/)
})

test('a hundred calls are allowed by default', async () => {
  const code = 'let n = 0; try { for (;;) { await bridge.a(); n++ } } catch { output = n }'
  assert.equal(await outputOf(code, { bridge: { a: () => 1 } }), 100)
})

test('an argument that is not JSON is an error in the program', async () => {
  const code = 'try { await bridge.a({ f() {} }) } catch (error) { output = error.message }'
  assert.match(String(await outputOf(code, { bridge: { a: () => 1 } })), /'a' cannot be called: .*function/)
})

test('without a bridge, the program has no functions', async () => {
  assert.equal(await outputOf('output = typeof bridge'), 'undefined')
  assert.equal(await outputOf('output = typeof bridge', { bridge: {} }), 'undefined')
})

test('an invalid bridge is refused', async () => {
  assert.equal((await execute('1', { bridge: 5 as never })).error, 'bridge must be an object of functions')
  assert.equal((await execute('1', { bridge: { a: 1 } as never })).error, 'bridge.a must be a function')
})

test('the time of a host function counts towards the timeout', async () => {
  const bridge = { never: () => new Promise(() => undefined) }
  await errorOf('TIMEOUT', 'await bridge.never()', { bridge, timeoutSeconds: 0.1 })
})

test('a program that does not await its calls ends before they do', async () => {
  const bridge = { never: () => new Promise(() => undefined) }
  assert.equal(await outputOf('void bridge.never(); output = 1', { bridge }), 1)
})

test('aborting the signal ends the program, with the text of the reason', async () => {
  const abort = new AbortController()
  const bridge = { now: () => abort.abort(new Error('The user left')) }
  assert.equal(
    await errorOf('TIMEOUT', 'await bridge.now(); for (;;);', { bridge, signal: abort.signal }),
    'The user left',
  )
  assert.equal(await errorOf('TIMEOUT', 'for (;;);', { signal: AbortSignal.abort('too late') }), 'too late')
  assert.match(await errorOf('TIMEOUT', 'for (;;);', { signal: AbortSignal.timeout(50) }), /timeout/)
  assert.equal(await outputOf('output = 1'), 1)
})

test('an invalid signal is refused', async () => {
  assert.equal(
    (await execute('1', { signal: { aborted: true } as never })).error,
    'signal must be an AbortSignal',
  )
})

const costly: Readonly<Record<string, string>> = {
  'a hundred thousand keys': 'Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => ["k" + n, 0]))',
  'half a million keys': 'Object.fromEntries(Array.from({ length: 500_000 }, (_, n) => ["k" + n, 0]))',
  'two million lists': 'Array.from({ length: 2_000_000 }, () => [])',
  'three million numbers': 'new Array(3_000_000).fill(0)',
}
for (const [what, value] of Object.entries(costly))
  test(`an argument of ${what} is passed on or refused, and does not block the host`, async () => {
    let given: unknown
    const bridge = { take: (one: unknown) => void (given = one) }
    const code = `const value = ${value}
      try { await bridge.take(value); output = 'passed' }
      catch (error) { output = /^The argument holds more than /.test(error.message) }`
    const passed = await keepLoopFree(what, async () => {
      const { output, error } = await execute(code, { bridge, memoryLimitMB: 512 })
      return output ?? error
    })
    assert.equal(passed, /half|lists/.test(what) ? true : 'passed')
    assert.equal(typeof given, passed === 'passed' ? 'object' : 'undefined')
  })
