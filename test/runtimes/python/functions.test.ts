/** Calls of host functions with Python's own features: event loops, threads, signals, processes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { callerOf, later } from './calling-functions.ts'

const guests = await useLazaret()
const { run, valueOf } = callerOf(guests)

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

test('with an event loop it returns an awaitable, also in a program with a top-level await', async () => {
  assert.deepEqual(
    await valueOf(`import asyncio
async def inner():
    return await later(1), asyncio.iscoroutine(echo(1)) and 'coroutine'
seen = [await later(0), *await inner()]
seen`),
    [0, 1, 'coroutine'],
  )
})

test('the call begins before its result is awaited', async () => {
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

test('it works wherever asyncio accepts coroutines', async () => {
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

test('several loops in sequence can use it, with blocking calls in between', async () => {
  assert.deepEqual(
    await valueOf(`import asyncio
async def main(number):
    forgotten = never()
    return await later(number)
[asyncio.run(main(1)), later(2), asyncio.run(main(3)), later(4)]`),
    [1, 2, 3, 4],
  )
})

test('an error reaches the code that awaits', async () => {
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

test('using the result without await is an error that says so', async () => {
  const message = "the call of 'echo' was not awaited: write `await echo(...)`"
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
    assert.ok(String(text).includes(message), `${index}: ${String(text)}`)
})

test('returning it as the value of the program without await is such an error, too', async () => {
  const { valueText } = await run(`import asyncio\nawait asyncio.sleep(0)\necho(1)`)
  assert.equal(valueText, "<the call of 'echo' was not awaited: write `await echo(...)`>")
})

test('threads and an event loop can call at the same time', async () => {
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

test('a thread that waits long does not delay the answers of others', async () => {
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

test('a signal handler that calls while its thread waits for an answer gets an error', async () => {
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

test('modules of the workspace can call them, too, and can shadow them like the program', async () => {
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
