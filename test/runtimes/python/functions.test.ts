/** What is Python's own about host functions: event loops, threads, signals, processes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction, RunResult } from '../../../src/index.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const echo: HostFunction = (value) => value
const later: HostFunction = (value) => new Promise((resolve) => setImmediate(resolve, value))
const never: HostFunction = () => new Promise(() => undefined)
const functions = { echo, later, never }

const run = async (code: string, rest = {}): Promise<RunResult> =>
  await guests.run({ ...python, code, functions, ...rest })

async function valueOf(code: string, rest = {}): Promise<unknown> {
  const { value, outcome, stderr } = await run(code, rest)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  return value
}

test('keyword arguments become one last argument', async () => {
  const all: HostFunction = (...args) => args
  assert.deepEqual(
    await valueOf(`[every(1, two=2, three=[3]), every(**{'a b': 1}), every()]`, {
      functions: { every: all },
    }),
    [[1, { two: 2, three: [3] }], [{ 'a b': 1 }], []],
  )
})

test('without an event loop a call blocks and gives the value', async () => {
  assert.equal(await valueOf(`later(20) + later(22)`), 42)
})

test('with an event loop it gives something to await, also below an await at the top level', async () => {
  assert.deepEqual(
    await valueOf(`import asyncio
async def inner():
    return await later(1), asyncio.iscoroutine(echo(1)) and 'coroutine'
seen = [await later(0), *await inner()]
seen`),
    [0, 1, 'coroutine'],
  )
})

test('what it gives is under way before it is awaited', async () => {
  const order: unknown[] = []
  const note: HostFunction = (name) => void order.push(name)
  await valueOf(
    `import asyncio
first = note('first')
second = note('second')
await note('third')
await second
await first`,
    { functions: { note } },
  )
  assert.deepEqual(order, ['first', 'second', 'third'])
})

test('it works in all that asyncio does with coroutines', async () => {
  assert.deepEqual(
    await valueOf(`import asyncio
async def main():
    seen = [
        await asyncio.gather(*(later(number) for number in range(3))),
        await asyncio.create_task(later('task')),
        await asyncio.wait_for(later('wait_for'), 10),
        await asyncio.shield(later('shield')),
        await asyncio.ensure_future(later('ensure')),
        sorted([await each for each in asyncio.as_completed([later(1), later(2)])]),
        await asyncio.to_thread(later, 'to_thread'),
        await asyncio.get_running_loop().run_in_executor(None, later, 'executor'),
    ]
    try:
        await asyncio.wait_for(never(), 0.01)
    except asyncio.TimeoutError:
        seen.append('timeout')
    task = asyncio.create_task(never())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        seen.append('cancelled')
    return seen
asyncio.run(main())`),
    [
      [0, 1, 2],
      'task',
      'wait_for',
      'shield',
      'ensure',
      [1, 2],
      'to_thread',
      'executor',
      'timeout',
      'cancelled',
    ],
  )
})

test('one loop after another, and blocking calls between them', async () => {
  assert.deepEqual(
    await valueOf(`import asyncio
async def main(number):
    forgotten = never()
    return await later(number)
[asyncio.run(main(1)), later(2), asyncio.run(main(3)), later(4)]`),
    [1, 2, 3, 4],
  )
})

test('an error reaches the one who awaits', async () => {
  assert.deepEqual(
    await valueOf(
      `import asyncio
seen = await asyncio.gather(fail(1), later(2), return_exceptions=True)
[type(seen[0]).__name__, seen[0].name, str(seen[0]), seen[1]]`,
      {
        functions: {
          later,
          fail: async () => {
            throw new RangeError('no')
          },
        },
      },
    ),
    ['HostFunctionError', 'RangeError', 'RangeError: no', 2],
  )
})

test('used as a value without await, it says what is missing', async () => {
  const said = "the call of 'echo' was not awaited: write `await echo(...)`"
  const value = await valueOf(`import asyncio, json, operator
seen = []
attempts = [
    lambda x: x + 1, lambda x: 1 + x, lambda x: x['key'], lambda x: x.key, lambda x: [*x], lambda x: len(x), lambda x: f'{x}',
    lambda x: print(x), lambda x: 'yes' if x else 'no', lambda x: x == 1, lambda x: x != 1, lambda x: x < 1, lambda x: int(x),
    lambda x: x(), lambda x: 1 in x, lambda x: [0][x], lambda x: -x, lambda x: operator.setitem(x, 0, 0), lambda x: ','.join([str(x)]),
    lambda x: open(x), lambda x: sum([x]), lambda x: echo([x]),
]
for attempt in attempts:
    try:
        seen.append(attempt(echo(1)))
    except (TypeError, AttributeError) as error:
        seen.append(str(error))
await echo(1)
seen`)
  assert.ok(Array.isArray(value) && value.length === 22)
  for (const [index, text] of value.entries())
    assert.ok(String(text).includes(said), `${index}: ${String(text)}`)
})

test('as the value of the program it says so too', async () => {
  const { valueText } = await run(`import asyncio\nawait asyncio.sleep(0)\necho(1)`)
  assert.equal(valueText, "<the call of 'echo' was not awaited: write `await echo(...)`>")
})

test('threads call at the same time, beside a loop that does', async () => {
  assert.equal(
    await valueOf(`import asyncio, threading
wrong = []
def work(start):
    for number in range(start, start + 200):
        if later(number) != number:
            wrong.append(number)
threads = [threading.Thread(target=work, args=(index * 1000,)) for index in range(8)]
for thread in threads: thread.start()
async def main():
    for start in range(0, 400, 20):
        if await asyncio.gather(*(later(number) for number in range(start, start + 20))) != list(range(start, start + 20)):
            wrong.append(start)
asyncio.run(main())
for thread in threads: thread.join()
wrong == []`),
    true,
  )
})

test('a thread that waits long does not keep another from its answer', async () => {
  let free: (() => void) | undefined
  const value = await valueOf(
    `import threading
slow = threading.Thread(target=hold)
slow.start()
while not started(): pass
seen = [echo(number) for number in range(100)]
release()
slow.join()
seen == list(range(100))`,
    {
      functions: {
        echo: later,
        hold: () => new Promise<void>((resolve) => (free = resolve)),
        started: () => free !== undefined,
        release: () => free?.(),
      },
    },
  )
  assert.equal(value, true)
})

test('loops in several threads each get their own answers', async () => {
  assert.equal(
    await valueOf(`import asyncio, threading
seen = {}
async def main(index):
    return await asyncio.gather(*(later([index, number]) for number in range(100)))
def work(index):
    seen[index] = asyncio.run(main(index))
threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
all(seen[index] == [[index, number] for number in range(100)] for index in range(4))`),
    true,
  )
})

test('a signal handler may end the wait for an answer, and calls go on after it', async () => {
  assert.deepEqual(
    await valueOf(`import signal
def expire(*_):
    raise TimeoutError('mine')
signal.signal(signal.SIGALRM, expire)
seen = []
for number in range(3):
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        never()
    except TimeoutError as error:
        seen.append(str(error))
    seen.append(later(number))
seen`),
    ['mine', 0, 'mine', 1, 'mine', 2],
  )
})

test('a signal handler that calls while its thread waits for an answer is told that it cannot', async () => {
  const value = await valueOf(`import signal
seen = []
def call(*_):
    try:
        echo('handler')
    except HostFunctionError as error:
        seen.append(str(error))
    raise InterruptedError
signal.signal(signal.SIGALRM, call)
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    never()
except InterruptedError:
    seen.append(echo('program'))
seen`)
  const refusal = 'a signal handler cannot call the host while its thread waits for an answer'
  assert.deepEqual(value, [refusal, 'program'])
})

test('a process that the program forked gets a clear error', async () => {
  const value = await valueOf(`import multiprocessing, os
context = multiprocessing.get_context('fork')
def attempt(number):
    try:
        return echo(number)
    except HostFunctionError as error:
        return str(error)
with context.Pool(2) as pool:
    seen = pool.map(attempt, range(2))
    try:
        pool.map(echo, [1])
    except HostFunctionError as error:
        seen.append(str(error))
[*seen, echo('parent')]`)
  const refusal =
    "'echo' can only be called in the process that the run started, not in one that it started itself"
  assert.deepEqual(value, [refusal, refusal, refusal, 'parent'])
})

for (const method of ['spawn', 'forkserver']) {
  test(`a process that the program started with ${method} gets the same error`, async () => {
    const { stdout, stderr } = await run(`import multiprocessing
def attempt(number):
    try:
        return echo(number)
    except HostFunctionError as error:
        return f'{error.name}: {error}'
def nested(number):
    with multiprocessing.get_context('${method}').Pool(1) as pool:
        return pool.apply(attempt, (number,))
if __name__ == '__main__':
    context = multiprocessing.get_context('${method}')
    with context.Pool(1) as pool:
        print(pool.apply(attempt, (1,)))
        try:
            pool.apply(echo, (1,))
        except HostFunctionError as error:
            print(error)
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(pool.submit(nested, 1).result())
    print(echo('parent'))`)
    const refusal =
      "'echo' can only be called in the process that the run started, not in one that it started itself"
    assert.equal(stdout, `Error: ${refusal}\n${refusal}\nError: ${refusal}\nparent\n`, stderr)
  })
}

test('modules of the workspace call them too, and shadow them as the program does', async () => {
  const value = await valueOf(
    `import helper, shadow
seen = [helper.twice(4), shadow.answer(), 'echo' in globals(), echo.__module__]
echo = 'mine'
[*seen, helper.twice(5), echo]`,
    {
      files: {
        'helper.py': 'def twice(number):\n    return 2 * echo(number)',
        'shadow.py': 'def echo(): return "shadow"\ndef answer(): return echo()',
      },
    },
  )
  assert.deepEqual(value, [8, 'shadow', true, '__main__', 10, 'mine'])
})

const fails: HostFunction = (name, message) => {
  throw Object.assign(new Error(String(message)), { name })
}

test('an error says what kind of error it was on the host', async () => {
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
  // They mean something to the interpreter: the end of a loop, of the program.
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

test('limits are told apart: a call that takes too long is a TimeoutError, one too many is not', async () => {
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

test('what cannot be sent is named in a few words, on one line', async () => {
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

test('a daemon thread that waits does not hold up the end', async () => {
  const { outcome } = await run(`import threading
threading.Thread(target=never, daemon=True).start()
echo(1)
import sys
sys.exit(4)`)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 4 })
})

test('a name of the host does not reach the library: only the program sees it', async () => {
  const value = await valueOf(
    `import tempfile\nwith tempfile.TemporaryFile('w+') as file:\n    file.write('x')\n[open('anything'), print.__name__]`,
    {
      functions: { open: (path: unknown) => `opened ${String(path)}` },
    },
  )
  assert.deepEqual(value, ['opened anything', 'print'])
})

test('an answer nested as deeply as values go arrives', async () => {
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

test('a program that closes the descriptor is told at its next call', async () => {
  const { outcome } = await run(`import os\necho(1)\nos.close(3)\necho(2)`)
  assert.equal(outcome.kind, 'completed', 'without the descriptor the error cannot be told either')
  const { stderr } = await run(`import os\nos.close(3)\necho(2)`)
  assert.match(stderr, /HostFunctionError: the host no longer answers/)
})
