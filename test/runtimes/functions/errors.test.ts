/** Errors of host functions, and values that cannot be transferred. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useLazaret } from '../../support/use-lazaret.ts'
import { caller, echo, engines, runtimes } from './calling.ts'

const { run } = await useLazaret()

for (const [name, guest] of Object.entries(runtimes)) {
  const call = caller(run, guest)

  test(`${name}: an error of the host becomes one of the language, with name and message, without its stack`, async () => {
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

  test(`${name}: a value that cannot be transferred is refused with a description, in both directions`, async () => {
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

  test(`${name}: the error for an answer that cannot be sent names the place in it`, async () => {
    const returned: Record<string, unknown> = {
      '': echo,
      '`.rows[1].run` is ': { rows: [{ $type: 'mine' }, { run: echo }] },
      '`["two words"]` is ': { 'two words': echo },
      '`.inner` is ': { $type: 'mine', inner: echo },
      // Values in a Map have no simple path.
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

  test(`${name}: a plain object that looks like a tag is not one`, async () => {
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
}

for (const [name, guest] of Object.entries(engines))
  test(`${name}: a call that nobody awaits fails the program, although its value is known`, async () => {
    const functions = { fail: () => Promise.reject(new RangeError('too far')) }
    for (let time = 0; time < 5; time++) {
      const { ok, outcome, value } = await run({ ...guest, code: 'fail()\n5', functions })
      assert.equal(ok, false)
      assert.deepEqual([value, outcome.kind === 'failed' && outcome.error.message], [5, 'too far'])
    }
  })
