/** Host functions as guest programs meet them, in every runtime that has them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction, RunResult } from '../../src/index.ts'
import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'

const { lazaret, run } = await useLazaret()

const typescript = { runtime: 'bun', language: 'typescript' } as const
const engines = { bun, node }
const runtimes = { ...engines, python }
type Guest = (typeof runtimes)[keyof typeof runtimes]

/** The same program in both languages. */
interface Programs {
  readonly javascript: string
  readonly python: string
}

const codeFor = (guest: Guest, programs: Programs): string => programs[guest.language]

function assertCompleted({ outcome, stderr }: RunResult): void {
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
}

const echo: HostFunction = (value) => value

for (const [name, guest] of Object.entries(runtimes)) {
  const call = async (programs: Programs, functions: Record<string, HostFunction>, rest = {}) =>
    await run({ ...guest, code: codeFor(guest, programs), functions, ...rest })

  test(`${name}: a function is called with its arguments, and its value comes back`, async () => {
    const seen: unknown[] = []
    const result = await call(
      { javascript: 'await add(1, 2.5)', python: 'add(1, 2.5)' },
      {
        add: (...args) => {
          seen.push(args)
          return Number(args[0]) + Number(args[1])
        },
      },
    )
    assertCompleted(result)
    assert.equal(result.value, 3.5)
    assert.deepEqual(seen, [[1, 2.5]])
  })

  test(`${name}: values cross in both directions as what they are`, async () => {
    const seen: unknown[] = []
    const sent = {
      date: new Date(5),
      map: new Map<unknown, unknown>([[1, new Set([2])]]),
      bytes: new Uint8Array([1, 2]),
      big: 12345678901234567890n,
      list: [null, true, 'é\ud83d\ude00', -0.5],
      $type: 'mine',
    }
    const { value, stderr } = await call(
      { javascript: 'await swap([await swap(1)])', python: 'swap([swap(1)])' },
      {
        swap: (...args) => {
          seen.push(args)
          return sent
        },
      },
    )
    assert.deepEqual(value, sent, stderr)
    assert.deepEqual(seen, [[1], [[sent]]])
  })

  test(`${name}: a function that gives nothing gives the language's nothing`, async () => {
    const { value } = await call(
      { javascript: '(await nothing()) === undefined', python: 'nothing() is None' },
      { nothing: () => undefined },
    )
    assert.equal(value, true)
  })

  test(`${name}: 1,000 calls at once are each answered with their own value`, async () => {
    const waiting: (() => void)[] = []
    const square: HostFunction = (number) =>
      new Promise((resolve) => {
        waiting.push(() => resolve(Number(number) ** 2))
        // All of them are open before the first is answered, and the last is answered first.
        if (waiting.length === 1000) for (const answer of waiting.toReversed()) answer()
      })
    const result = await call(
      {
        javascript: 'await Promise.all(Array.from({ length: 1000 }, (_, index) => square(index)))',
        python: 'import asyncio\nawait asyncio.gather(*(square(index) for index in range(1000)))',
      },
      { square },
    )
    assertCompleted(result)
    assert.deepEqual(
      result.value,
      Array.from({ length: 1000 }, (_, index) => index ** 2),
    )
  })

  test(`${name}: more calls than are taken at once wait their turn, in order`, async () => {
    const order: unknown[] = []
    let open = 0
    let openMost = 0
    const take: HostFunction = async (number, text) => {
      order.push(number)
      openMost = Math.max(openMost, ++open)
      await Promise.resolve()
      open--
      return `${String(text)}`.length
    }
    const { value, stderr } = await call(
      {
        javascript: `const text = 'x'.repeat(10_000)
          new Set(await Promise.all(Array.from({ length: 5000 }, (_, index) => take(index, text))))`,
        python: `import asyncio\ntext = 'x' * 10_000\nset(await asyncio.gather(*[take(index, text) for index in range(5000)]))`,
      },
      { take },
    )
    assert.deepEqual(value, new Set([10_000]), stderr)
    assert.deepEqual(
      order,
      Array.from({ length: 5000 }, (_, index) => index),
    )
    assert.ok(openMost <= 1024, String(openMost))
  })

  test(`${name}: an error of the host is one of the language, with name and message and no stack of ours`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `const seen = []
          for (const fail of [failNow, failLater, failOddly]) {
            try { await fail() } catch (error) {
              seen.push([Object.getPrototypeOf(error) === (globalThis[error.name] === TypeError ? TypeError : Error).prototype, error.name, error.message, error.stack.includes('node:')])
            }
          }
          seen`,
        python: `seen = []
for fail in (failNow, failLater, failOddly):
    try:
        fail()
    except HostFunctionError as error:
        seen.append([isinstance(error, RuntimeError), error.name, error.message, 'node:' in repr(error.__dict__)])
seen`,
      },
      {
        failNow: () => {
          throw new TypeError('no such user')
        },
        failLater: async () => await Promise.reject(new DOMException('busy', 'AbortError')),
        // oxlint-disable-next-line no-throw-literal, only-throw-error -- what a careless host may do
        failOddly: () => {
          throw 'a text'
        },
      },
    )
    const seen = [
      [true, 'TypeError', 'no such user', false],
      [true, 'AbortError', 'busy', false],
      [true, 'Error', 'a text', false],
    ]
    assert.deepEqual(value, seen, stderr)
  })

  test(`${name}: an error that nobody catches ends the program, at the line of the call`, async () => {
    const { outcome } = await call(
      { javascript: '\n\nawait fail()', python: '\n\nfail()' },
      {
        fail: () => {
          throw new RangeError('too far')
        },
      },
    )
    assert.equal(outcome.kind, 'failed')
    assert.deepEqual(
      outcome.kind === 'failed' && [outcome.error.message, outcome.error.line, outcome.exitCode],
      [guest.language === 'python' ? 'RangeError: too far' : 'too far', 3, 1],
    )
  })

  test(`${name}: errors are bounded, whatever the host throws`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `await fail().catch((error) => [error.name.length, error.message.length])`,
        python: `try:\n    fail()\nexcept HostFunctionError as error:\n    seen = [len(error.name), len(error.message)]\nseen`,
      },
      {
        fail: () => {
          throw Object.assign(new Error('m'.repeat(1_000_000)), { name: 'n'.repeat(1_000_000) })
        },
      },
    )
    assert.deepEqual(value, [256, 16_384], stderr)
  })

  test(`${name}: what cannot cross is refused, each way, with a word of what it is`, async () => {
    let calls = 0
    const { value, stderr } = await call(
      {
        javascript: `const seen = []
          for (const attempt of [() => echo({ deep: [function named() {}] }), () => echo(echo2('late')), () => strange()]) {
            try { await attempt() } catch (error) { seen.push(error.name + ': ' + error.message) }
          }
          seen`,
        python: `seen = []
for attempt in (lambda: echo({'deep': [named]}), lambda: echo(object), strange):
    try:
        attempt()
    except (TypeError, HostFunctionError) as error:
        seen.append(f'{getattr(error, "name", "TypeError")}: {error}')
seen`.replace('[named]', '[print]'),
      },
      {
        echo: () => (calls += 1),
        echo2: echo,
        strange: () => ({ callback: function named() {} }),
      },
    )
    const [first, second, third] = value as string[]
    const expected =
      guest.language === 'python'
        ? [/^TypeError: an argument of 'echo' .*<built-in function print>/, /^TypeError: .*<class 'object'>/]
        : [
            /^TypeError: An argument of 'echo' .*\[Function: named\]/,
            /^TypeError: .*\[object Promise\].*await/,
          ]
    assert.match(first ?? stderr, expected[0] as RegExp)
    assert.match(second ?? stderr, expected[1] as RegExp)
    assert.match(
      third ?? stderr,
      /^TypeError: .*What 'strange' returned cannot be sent: `\.callback` is \[Function: named\]/,
    )
    assert.equal(calls, 0)
  })

  test(`${name}: an answer that cannot be sent is named, with the place in it`, async () => {
    const returned: Record<string, unknown> = {
      '': echo,
      '`.rows[1].run` is ': { rows: [{ $type: 'mine' }, { run: echo }] },
      '`["two words"]` is ': { 'two words': echo },
      '`.inner` is ': { $type: 'mine', inner: echo },
      // What lies in a Map has no simple path.
      ' ': new Map([[1, echo]]),
    }
    const { value, stderr } = await call(
      {
        javascript: `const seen = []; for (const key of await keys()) await give(key).catch((error) => seen.push(error.message)); seen`,
        python: `seen = []\nfor key in keys():\n    try:\n        give(key)\n    except TypeError as error:\n        seen.append(error.message)\nseen`,
      },
      { keys: () => Object.keys(returned), give: (key) => returned[String(key)] },
    )
    const expected = Object.keys(returned).map(
      (place) => `What 'give' returned cannot be sent: ${place.trimStart()}[Function: echo]`,
    )
    assert.deepEqual(value, expected, stderr)
  })

  test(`${name}: a plain object that looks like a tag is none`, async () => {
    const tag = { $type: 'Unserializable', text: 'mine' }
    const { value, stderr } = await call(
      {
        javascript: `await echo({ $type: 'Unserializable', text: 'mine' })`,
        python: `echo({'$type': 'Unserializable', 'text': 'mine'})`,
      },
      { echo },
    )
    assert.deepEqual(value, tag, stderr)
  })

  test(`${name}: arguments and values over their limits are errors, and the program goes on`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `const seen = []
          for (const attempt of [() => echo('x'.repeat(3000)), () => large(), () => echo('small')]) {
            seen.push(await attempt().catch((error) => error.name))
          }
          seen`,
        python: `seen = []
for attempt in (lambda: echo('x' * 3000), large, lambda: echo('small')):
    try:
        seen.append(attempt())
    except ValueError:
        seen.append('RangeError')
    except HostFunctionError as error:
        seen.append(error.name)
seen`,
      },
      { echo, large: () => 'y'.repeat(3000) },
      { limits: { resultBytes: 2000, inputBytes: 2000 } },
    )
    assert.deepEqual(value, ['RangeError', 'RangeError', 'small'], stderr)
  })

  test(`${name}: arguments and values of many megabytes cross`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `const sent = 'x'.repeat(9_000_000); const got = await Promise.all([echo(sent), echo(sent), echo(sent)]); got.every((each) => each === sent)`,
        python: `import asyncio\nsent = 'x' * 9_000_000\nall(each == sent for each in await asyncio.gather(*[echo(sent) for _ in range(3)]))`,
      },
      { echo },
    )
    assert.equal(value, true, stderr)
  })

  test(`${name}: the number of calls is limited, by an error that can be caught`, async () => {
    let calls = 0
    const { value, receipt, stderr } = await call(
      {
        javascript: `const seen = []; for (let count = 0; count < 5; count++) seen.push(await tick().catch((error) => error.name)); seen`,
        python: `seen = []
for count in range(5):
    try:
        seen.append(tick())
    except HostFunctionError as error:
        seen.append(error.name)
seen`,
      },
      { tick: () => ++calls },
      { limits: { functionCallsMax: 3 } },
    )
    assert.deepEqual(value, [1, 2, 3, 'FunctionLimitError', 'FunctionLimitError'], stderr)
    assert.equal(calls, 3)
    assert.deepEqual(receipt.limits.functionCallsMax, { value: 3, by: 'host' })
    assert.deepEqual(receipt.limits.functionMs, { value: null, by: 'none' })
  })

  test(`${name}: a call that takes too long is an error in the guest and an aborted signal on the host`, async () => {
    const aborted = Promise.withResolvers<unknown>()
    const { value, receipt, stderr } = await call(
      {
        javascript: `await wait().catch((error) => [error.name, error.message])`,
        python: `try:\n    wait()\nexcept HostFunctionError as error:\n    seen = [error.name, error.message]\nseen`,
      },
      {
        wait() {
          this.signal.addEventListener('abort', () => aborted.resolve((this.signal.reason as Error).name))
          return new Promise(() => undefined)
        },
      },
      { limits: { functionMs: 20 } },
    )
    assert.deepEqual(value, ['TimeoutError', "'wait' took longer than 20 ms (functionMs)."], stderr)
    assert.equal(await aborted.promise, 'TimeoutError')
    assert.deepEqual(receipt.limits.functionMs, { value: 20, by: 'host' })
  })

  test(`${name}: the signal aborts when the run has ended, also for a call that was answered`, async () => {
    let signal: AbortSignal | undefined
    const result = await call(
      { javascript: 'await note()', python: 'note()' },
      {
        note() {
          signal = this.signal
          return signal.aborted
        },
      },
    )
    assert.equal(result.value, false, result.stderr)
    assert.ok(signal !== undefined && signal.aborted)
    assert.equal((signal.reason as Error).name, 'AbortError')
  })

  test(`${name}: a function that never answers does not delay the deadline`, async () => {
    const { outcome, stdout } = await call(
      {
        javascript: `console.log('calling'); await never()`,
        python: `print('calling')\nnever()`,
      },
      { never: () => new Promise(() => undefined) },
      { limits: { wallMs: 1500 } },
    )
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 1500 })
    assert.equal(stdout, 'calling\n')
  })

  test(`${name}: a function may cancel its own run`, async () => {
    const controller = new AbortController()
    let isAborted = false
    const { outcome } = await call(
      { javascript: 'await cancel(); console.log(1)', python: 'cancel()\nprint(1)' },
      {
        cancel() {
          controller.abort()
          isAborted = this.signal.aborted
          throw new Error('nobody hears this')
        },
      },
      { signal: controller.signal },
    )
    assert.deepEqual(outcome, { kind: 'cancelled' })
    assert.equal(isAborted, true)
  })

  test(`${name}: a program that exits with a call under way ends at once, with its own code`, async () => {
    const asked = Promise.withResolvers<void>()
    const { outcome } = await call(
      {
        javascript: 'void never(); process.exit(3)',
        python: `import asyncio, sys
async def main():
    never()
    sys.exit(3)
asyncio.run(main())`,
      },
      {
        never: () => {
          asked.resolve()
          return new Promise(() => undefined)
        },
      },
    )
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 3 })
  })

  test(`${name}: names are the request's own: others do not exist`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `[typeof known, typeof unknown, typeof HostFunctionError]`,
        python: `[type(known).__name__, 'unknown' in globals(), issubclass(HostFunctionError, RuntimeError)]`,
      },
      { known: echo },
    )
    const expected =
      guest.language === 'python' ? ['function', false, true] : ['function', 'undefined', 'undefined']
    assert.deepEqual(value, expected, stderr)
  })

  test(`${name}: the value arrives when calls were made while the program ended`, async () => {
    let late = 0
    const result = await call(
      {
        javascript: `process.on('exit', () => { void note('exit') }); await note('body'); 'done'`,
        python: `import atexit\natexit.register(note, 'exit')\nnote('body')\n'done'`,
      },
      { note: () => ++late },
    )
    assertCompleted(result)
    assert.equal(result.value, 'done')
    assert.ok(late >= 1)
  })
}

for (const [name, guest] of Object.entries(engines)) {
  const javascript = async (code: string, functions: Record<string, HostFunction>) =>
    await run({ ...guest, code, functions })

  test(`${name}: a call that nobody awaits keeps the program alive until it is answered, and no longer`, async () => {
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

  test(`${name}: calls go on while timers, console and files do`, async () => {
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

  test(`${name}: a function shows no code of ours`, async () => {
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

  test(`${name}: a function may have the name of one that the platform has`, async () => {
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
    await refused({ functions: { [name]: echo } }, /a name that every guest has/)
  await refused({ functions: { constructor: echo } }, /functions\.constructor: is a name with a meaning/)
  for (const name of ['toString', '__init__', 'hasOwnProperty'])
    await refused({ functions: { [name]: echo } }, /meaning of its own/)
  for (const name of ['', 'a b', '1a', 'a-b', 'é', 'a.b', '$'])
    await refused({ functions: { [name]: echo } }, /not an identifier/)
  await refused({ functions: { lambda: echo } }, /functions\.lambda: is a word of python/)
  for (const name of ['await', 'Object', 'Map', 'Promise', 'Bun'])
    await refused({ functions: { [name]: echo }, ...bun }, /is a word of javascript/)
  await refused({ functions: { x: 5 } }, /functions\.x: is not a function/)
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`f${index}`, echo]))
  await refused({ functions: many }, /more than 256 functions/)
})

test('a shell may be given an empty set of functions', async () => {
  const { outcome } = await run({ language: 'shell', code: ':', functions: {} })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
})
