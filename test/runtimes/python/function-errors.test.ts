/** Errors and limits of host functions in Python programs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { callerOf } from './calling-functions.ts'

const guests = await useLazaret()
const { run, valueOf } = callerOf(guests)

const fails: HostFunction = (name, message) => {
  throw Object.assign(new Error(String(message)), { name })
}

test('an error has the name of the error on the host', async () => {
  const { outcome, stderr } = await run(`fails('NotFound', 'no such row')`, { functions: { fails } })
  assert.ok(outcome.kind === 'failed')
  assert.equal(outcome.error.message, 'NotFound: no such row')
  assert.match(stderr, /^HostFunctionError: NotFound: no such row$/m)
  assert.deepEqual(
    await valueOf(
      `seen = []
for name, message in [('NotFound', 'no'), ('NotFound', ''), ('Error', 'no'), ('Error', '')]:
    try:
        fails(name, message)
    except HostFunctionError as error:
        seen.append([error.name, error.message, str(error), repr(error)])
seen`,
      { functions: { fails } },
    ),
    [
      ['NotFound', 'no', 'NotFound: no', "HostFunctionError('no', 'NotFound')"],
      ['NotFound', '', 'NotFound', "HostFunctionError('', 'NotFound')"],
      ['Error', 'no', 'no', "HostFunctionError('no')"],
      ['Error', '', '', "HostFunctionError('')"],
    ],
  )
})

test('an error that Python has a class for is caught as one of that class, too', async () => {
  const value = await valueOf(
    `import builtins, copy, pickle
seen = {}
for name, kind in vars(builtins).items():
    if not isinstance(kind, type) or not issubclass(kind, BaseException) or kind is HostFunctionError:
        continue
    try:
        fails(name, 'why')
    except HostFunctionError as error:
        again = pickle.loads(pickle.dumps(error))
        alike = [(type(each), str(each), each.name, each.message) for each in (error, again, copy.copy(error))]
        assert len(set(alike)) == 1, alike
        assert type(error).__name__ == 'HostFunctionError' and (error.name, error.message) == (name, 'why')
        seen[name] = isinstance(error, kind)
try:
    fails('KeyError', 'of a key')
except KeyError as error:
    seen['text'] = str(error)
try:
    fails('RangeError', 'none of Python')
except Exception as error:
    seen['other'] = type(error) is HostFunctionError
seen`,
    { functions: { fails } },
  )
  const seen = value as Record<string, unknown>
  for (const name of [
    ...['TypeError', 'ValueError', 'KeyError', 'IndexError', 'LookupError', 'RuntimeError', 'Exception'],
    ...['TimeoutError', 'PermissionError', 'FileNotFoundError', 'OSError', 'ConnectionError', 'SyntaxError'],
    ...['ZeroDivisionError', 'AttributeError', 'ImportError', 'MemoryError', 'NotImplementedError'],
  ])
    assert.equal(seen[name], true, name)
  // Exceptions with a meaning for the interpreter: the end of a loop, or of the program.
  for (const name of [
    'StopIteration',
    'StopAsyncIteration',
    'SystemExit',
    'KeyboardInterrupt',
    'GeneratorExit',
  ])
    assert.equal(seen[name], false, name)
  assert.deepEqual([seen['text'], seen['other']], ['KeyError: of a key', true])
})

test('an error of such a class that nobody catches is printed as any other', async () => {
  for (const name of ['SyntaxError', 'NameError', 'AttributeError', 'ImportError', 'OSError', 'KeyError']) {
    const { outcome, stderr } = await run(`fails('${name}', 'no')`, { functions: { fails } })
    assert.ok(outcome.kind === 'failed')
    assert.deepEqual([outcome.error.name, outcome.error.message], ['HostFunctionError', `${name}: no`])
    assert.ok(stderr.endsWith(`\nHostFunctionError: ${name}: no\n`), stderr)
  }
})

test('limits are distinguished: a call that takes too long is a TimeoutError, one too many is not', async () => {
  const value = await valueOf(
    `seen = []
for attempt in (never, echo):
    try:
        attempt()
    except TimeoutError as error:
        seen.append(['timeout', error.name])
    except HostFunctionError as error:
        seen.append(error.name)
seen`,
    { limits: { functionMs: 20, functionCallsMax: 1 } },
  )
  assert.deepEqual(value, [['timeout', 'TimeoutError'], 'FunctionLimitError'])
})

test('a value that cannot be sent is described in a few words, on one line', async () => {
  const value = await valueOf(`class Table:
    def __repr__(self): return 'row\\n' * 1000
try:
    echo(Table())
except TypeError as error:
    seen = str(error)
seen`)
  const words = `${'row '.repeat(1000).slice(0, 100)}…`
  assert.equal(value, `an argument of 'echo' cannot be sent to the host: ${words}`)
})

test('a module of the workspace can catch the error', async () => {
  const { value, stderr } = await run(`import careful\ncareful.attempt(fail)`, {
    files: {
      'careful.py': `def attempt(function):\n    try:\n        function()\n    except HostFunctionError as error:\n        return error.name`,
    },
    functions: {
      fail: () => {
        throw new URIError('x')
      },
    },
  })
  assert.equal(value, 'URIError', stderr)
})

test('a waiting daemon thread does not delay the end', async () => {
  const { outcome } = await run(`import threading
threading.Thread(target=never, daemon=True).start()
echo(1)
import sys
sys.exit(4)`)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 4 })
})

test('functions of the host are visible only to the program, not to libraries', async () => {
  const value = await valueOf(
    `import tempfile\nwith tempfile.TemporaryFile('w+') as file:\n    file.write('x')\n[open('anything'), print.__name__]`,
    {
      functions: { open: (path: unknown) => `opened ${String(path)}` },
    },
  )
  assert.deepEqual(value, ['opened anything', 'print'])
})

test('an answer with the maximum depth arrives', async () => {
  const value = await valueOf(
    `value, depth = deep(), 0\nwhile value:\n    value, depth = value[0], depth + 1\ndepth`,
    {
      functions: {
        deep: () => {
          let nest: unknown[] = []
          for (let level = 0; level < 900; level++) nest = [nest]
          return nest
        },
      },
    },
  )
  assert.equal(value, 900)
})

test('a program that closes the descriptor gets an error at its next call', async () => {
  const { outcome } = await run(`import os\necho(1)\nos.close(3)\necho(2)`)
  assert.equal(outcome.kind, 'completed', 'without the descriptor the error cannot be told either')
  const { stderr } = await run(`import os\nos.close(3)\necho(2)`)
  assert.match(stderr, /HostFunctionError: the host no longer answers/)
})
