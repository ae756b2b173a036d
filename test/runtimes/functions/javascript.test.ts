/** Details of host functions in JavaScript, and the names that functions may have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { bun, python, useLazaret } from '../../support/use-lazaret.ts'
import { assertCompleted, echo, engines } from './calling.ts'

const { lazaret, run } = await useLazaret()

const typescript = { runtime: 'bun', language: 'typescript' } as const

for (const [name, guest] of Object.entries(engines)) {
  const javascript = async (code: string, functions: Record<string, HostFunction>) =>
    await run({ ...guest, code, functions })

  test(`${name}: an unawaited call keeps the program alive until it is answered`, async () => {
    const order: string[] = []
    const result = await javascript(
      `slow('first').then(() => slow('second')).then(() => console.log('answered')); 'value'`,
      {
        slow: async (text) => {
          order.push(String(text))
          await new Promise((resolve) => setImmediate(resolve))
        },
      },
    )
    assertCompleted(result)
    assert.deepEqual([result.value, result.stdout, order], ['value', 'answered\n', ['first', 'second']])
  })

  test(`${name}: calls, timers, console and files work concurrently`, async () => {
    const result = await javascript(
      `const seen = []
      const timer = setInterval(() => seen.push('tick'), 1)
      for (let count = 0; count < 50; count++) { await echo(count); console.log('x'.repeat(10_000)); await new Promise(setImmediate) }
      while (seen.length < 2) await new Promise((done) => setTimeout(done, 1))
      clearInterval(timer)
      'done'`,
      { echo },
    )
    assertCompleted(result)
    assert.equal(result.value, 'done')
    assert.equal(result.logs.length, 50)
  })

  test(`${name}: guest code that breaks built-ins does not break calls`, async () => {
    const { value, outcome, stderr } = await javascript(
      `const { parse, stringify } = JSON
      const broken = () => { throw new Error('broken') }
      JSON.parse = JSON.stringify = Map.prototype.get = Map.prototype.set = Map.prototype.delete = broken
      Uint8Array.prototype.set = Uint8Array.prototype.subarray = TextDecoder.prototype.decode = broken
      Array.prototype.push = Array.prototype.shift = String.prototype.slice = String.prototype.includes = broken
      Object.defineProperty(Array.prototype, Symbol.iterator, { value: broken })
      globalThis.Promise = globalThis.Error = globalThis.Map = undefined
      const first = await echo({ text: 'é', list: [1] })
      let second; try { await fail() } catch (error) { second = error.message }
      JSON.stringify = stringify
      first.text + first.list[0] + second`,
      {
        echo,
        fail: () => {
          throw new Error('no')
        },
      },
    )
    assert.deepEqual([outcome.kind, value], ['completed', 'é1no'], stderr)
  })

  test(`${name}: guest code that breaks stacks does not break calls`, async () => {
    const { value, outcome, stderr } = await javascript(
      `Error.prepareStackTrace = () => { throw 'broken' }
      const first = await echo(1)
      let second; try { await fail() } catch (error) { second = error.message }
      first + second`,
      {
        echo,
        fail: () => {
          throw new Error('no')
        },
      },
    )
    assert.deepEqual([outcome.kind, value], ['completed', '1no'], stderr)
  })

  test(`${name}: an error of the host with a built-in's name is an instance of that built-in`, async () => {
    const throwing = Object.fromEntries(
      ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'].map((kind) => [
        `fail${kind}`,
        () => {
          throw Object.assign(new Error('bad'), { name: kind })
        },
      ]),
    )
    const { outcome, stdout, stderr } = await javascript(
      `const errors = await Promise.all([${Object.keys(throwing).join()}].map((fail) => fail().catch((error) => error)))
      console.log(errors.every((error) => error.message === 'bad' && error.constructor === globalThis[error.name]))
      console.log(await own().catch((error) => [error.constructor === Error, error.name, Object.keys(error).length]))
      await failTypeError()`,
      {
        ...throwing,
        own: () => {
          throw Object.assign(new Error('mine'), { name: '__proto__' })
        },
      },
    )
    assert.equal(stdout, "true\n[ true, '__proto__', 0 ]\n")
    assert.equal(outcome.kind === 'failed' && outcome.error.name, 'TypeError')
    assert.match(stderr, /\n\nTypeError: bad\n {4}at <code>:4:/)
  })

  test(`${name}: a function does not reveal code of Lazaret`, async () => {
    const { value, stderr } = await javascript(
      `let isConstructor = true
      try { new echo() } catch { isConstructor = false }
      [String(echo), echo.name, require('node:util').inspect(echo), isConstructor]`,
      { echo },
    )
    const [text, ...rest] = value as unknown[]
    assert.match(String(text), /^function \w*\(\) \{ \[native code\] \}$/, stderr)
    assert.deepEqual(rest, ['echo', '[Function: echo]', false])
  })

  test(`${name}: a function may have the name of a global function`, async () => {
    const { value, stderr } = await javascript(`await fetch('https://example.org')`, {
      fetch: (address) => `got ${String(address)}`,
    })
    assert.equal(value, 'got https://example.org', stderr)
  })
}

test('TypeScript calls functions as JavaScript does', async () => {
  for (const guest of [typescript, { ...typescript, runtime: 'node' } as const]) {
    const code = `declare function echo<T>(value: T): Promise<T>\nenum Size { Small = 7 }\nawait echo<Size>(Size.Small)`
    const { value, stderr } = await run({ ...guest, code, functions: { echo } })
    assert.equal(value, 7, stderr)
  }
})

test('functions are refused for shell, and under names that a guest could not call', async () => {
  const refused = async (request: object, detail: RegExp): Promise<void> => {
    await assert.rejects(lazaret.run({ code: '', ...python, functions: {}, ...request }), {
      code: 'INVALID_REQUEST',
      message: detail,
    })
  }
  await refused({ language: 'shell', runtime: 'shell', functions: { echo } }, /functions: shell cannot call/)
  await refused({ functions: JSON.parse('{"__proto__": 1}') as object }, /functions: `__proto__`/)
  for (const name of ['input', 'input_data', 'require', 'display', 'console', 'process'])
    await refused({ functions: { [name]: echo } }, /a name that every guest already has/)
  await refused(
    { functions: { constructor: echo } },
    /functions\.constructor: is a name with a special meaning/,
  )
  for (const name of ['toString', '__init__', 'hasOwnProperty'])
    await refused({ functions: { [name]: echo } }, /special meaning/)
  for (const name of ['', 'a b', '1a', 'a-b', 'é', 'a.b', '$'])
    await refused({ functions: { [name]: echo } }, /not an identifier/)
  await refused({ functions: { lambda: echo } }, /functions\.lambda: has a meaning in python/)
  for (const name of ['await', 'Object', 'Map', 'Promise', 'Bun'])
    await refused({ functions: { [name]: echo }, ...bun }, /has a meaning in javascript/)
  await refused({ functions: { x: 5 } }, /functions\.x: is not a function/)
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`f${index}`, echo]))
  await refused({ functions: many }, /more than 256 functions/)
})

test('a shell may be given an empty set of functions', async () => {
  const { outcome } = await run({ language: 'shell', code: ':', functions: {} })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
})
