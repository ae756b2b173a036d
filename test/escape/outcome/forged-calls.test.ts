/** Calls of host functions that a harness never sends: the guest writes to the channel itself, or never reads from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction, RunRequest, RunResult } from '../../../src/index.ts'
import { callsAtOnceMax } from '../../../src/runtimes/channel/channel-protocol.ts'
import { callFloods, pythonCalls } from '../../support/hostile/forged-messages.ts'
import { untilPythonBlocks } from '../../support/machine/blocked-guests.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const KiB = 1024
const limits = {
  wallMs: ampleMs,
  hostMs: ampleMs,
  resultBytes: 64 * KiB,
  outputBytes: 64 * KiB,
  inputBytes: 64 * KiB,
}

const echo: HostFunction = (value) => value
const never: HostFunction = () => new Promise(() => undefined)

const run = async (code: string, functions: Record<string, HostFunction>, rest = {}): Promise<RunResult> =>
  await guests.run({ ...python, code: `${pythonCalls}\n${code}`, functions, limits, ...rest })

const completed = { kind: 'completed', exitCode: 0 }

test('names that the request does not have are not found, not even those of prototypes', async () => {
  const { value, stderr } = await run(
    `[ask(call(name))['error'] for name in ('unknown', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'x' * 1000, 5, None, ['echo'])]`,
    { echo },
  )
  assert.ok(Array.isArray(value) && value.length === 10, stderr)
  for (const error of value) {
    assert.deepEqual(error, { name: 'ReferenceError', message: 'The host has no function of this name.' })
  }
})

test('two calls with the same id are both answered', async () => {
  let calls = 0
  const { value, stderr } = await run(
    `send(frame(call('count', id=7)) + frame(call('count', id=7)))\n[receive(), receive()]`,
    { count: () => ++calls },
  )
  assert.deepEqual(
    value,
    [1, 2].map((number) => ({ type: 'return', id: 7, value: number })),
    stderr,
  )
})

test('invalid ids, arguments and messages are dropped or refused, and the channel continues', async () => {
  const { value, stderr } = await run(
    `for id in (-1, 0.5, '1', None, 2**60, [], True): send(frame(call('echo', id=id)))
send(frame({'type': 'call'}))
seen = [ask({'type': 'call', 'id': 1, 'name': 'echo', 'args': args})['error']['name'] for args in ({}, 'text', None, 5)]
[*seen, ask(call('echo', 'alive'))['value']]`,
    { echo },
  )
  assert.deepEqual(value, ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'alive'], stderr)
})

test('forged arguments reach no prototype of the host, and a function gets only what was sent to it', async () => {
  const seen: unknown[][] = []
  const { value, stderr } = await run(
    `answer = ask(b'{"type":"call","id":1,"name":"note","args":[{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},{"$type":"Map","value":5},{"$type":"Ref","path":["__proto__"]}],"__proto__":{"id":9}}')\nanswer['id']`,
    {
      note: (...args) => {
        seen.push(args)
      },
    },
  )
  assert.equal(value, 1, stderr)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal(seen[0]?.length, 3)
  assert.equal(Object.getPrototypeOf(seen[0]?.[0]), Object.prototype)
})

test('arguments over the limit, or nested without end, are refused before any function sees them', async () => {
  let calls = 0
  const { value, stderr } = await keepHeldFlat(() =>
    run(
      `start = b'{"type":"call","id":1,"name":"note","args":['
[ask(start + b'"' + b'x' * 70000 + b'"]}')['error']['name'], ask(start + b'[' * 30000 + b']' * 30000 + b']}')['error']['name']]`,
      { note: () => ++calls },
    ),
  )
  assert.deepEqual(value, ['RangeError', 'RangeError'], stderr)
  assert.equal(calls, 0)
})

test('arguments with too many lists are refused with the name of the call', async () => {
  let calls = 0
  const { value, truncated, stderr } = await keepHeldFlat(() =>
    run(
      `ask(b'{"type":"call","id":5,"name":"note","args":[' + b'[],' * 1100000 + b'1]}')`,
      { note: () => ++calls },
      { limits: { ...limits, resultBytes: 16 * KiB * KiB } },
    ),
  )
  assert.equal((value as { error: { name: string } }).error.name, 'RangeError', stderr)
  assert.deepEqual([calls, truncated], [0, []])
})

test('calls do not count as output: they may send more than the run may print or return', async () => {
  const { outcome, stderr } = await run(`for _ in range(100): ask(call('echo', 'x' * 60000))`, {
    echo: () => null,
  })
  assert.deepEqual(outcome, completed, stderr)
})

test('a call has one answer, even if its function returns after the timeout', async () => {
  const { value, stderr } = await run(
    `[ask(call('late', id=1)), ask(call('late', id=2))]`,
    {
      late() {
        return new Promise((resolve) => this.signal.addEventListener('abort', resolve))
      },
    },
    { limits: { ...limits, functionMs: 10 } },
  )
  assert.ok(Array.isArray(value), stderr)
  assert.deepEqual(
    value.map(({ type, id }: { type: string; id: number }) => [type, id]),
    [
      ['throw', 1],
      ['throw', 2],
    ],
  )
})

test('the host also refuses calls after the last allowed one', async () => {
  let calls = 0
  const { value, stderr } = await run(
    `[ask(call('count')) for _ in range(4)]`,
    { count: () => ++calls },
    { limits: { ...limits, functionCallsMax: 2 } },
  )
  assert.ok(Array.isArray(value), stderr)
  assert.deepEqual(
    value.map((answer: { value?: number; error?: { name: string } }) => answer.value ?? answer.error?.name),
    [1, 2, 'FunctionLimitError', 'FunctionLimitError'],
  )
  assert.equal(calls, 2)
})

test('a guest that sends calls without reading the answers is no longer read, and the host stays small', async () => {
  const controller = new AbortController()
  const filled = Promise.withResolvers<void>()
  let calls = 0
  const large = () => {
    if (++calls === callsAtOnceMax) filled.resolve()
    return 'y'.repeat(60 * KiB)
  }
  const { outcome } = await keepHeldFlat(async () => {
    let isOver = false
    // If nobody waits for the guest, the answers are 1.2 GB.
    const running = run(
      `data = frame(call('large', 'x' * 1000)) * 50\nfor _ in range(400): send(data)`,
      { large },
      { limits: { ...limits, functionCallsMax: 1_000_000 }, signal: controller.signal },
    ).finally(() => (isOver = true))
    await Promise.race([filled.promise, running])
    assert.equal(await untilPythonBlocks(() => isOver), 'blocked')
    controller.abort()
    return running
  })
  assert.deepEqual(outcome, { kind: 'cancelled' })
  // The socket has taken a few answers.
  assert.ok(calls < callsAtOnceMax + 64, `${calls} calls`)
})

test('a guest that opens too many calls at once has to wait, and no more of them run', async () => {
  let open = 0
  const request = {
    ...python,
    code: `${pythonCalls}\ndata = frame(call('never')) * 100\nwhile True: send(data)`,
    functions: {
      never() {
        open++
        return new Promise(() => undefined)
      },
    },
    limits: { ...limits, functionCallsMax: 1_000_000 },
  }
  const attack = (one: RunRequest) => {
    open = 0
    return guests.run(one)
  }
  const { result, wallMs } = await keepHeldFlat(() => runPatiently(attack, request, () => open >= 1025))
  assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
  assert.equal(open, 1025)
})

test('the host stops reading large arguments of unanswered calls', async () => {
  let bytes = 0
  const request: RunRequest = {
    ...python,
    code: `${pythonCalls}\ndata = frame(call('never', 'x' * 1000000))\nwhile True: send(data)`,
    functions: {
      never(text) {
        bytes += String(text).length
        return new Promise(() => undefined)
      },
    },
    limits: { ...limits, resultBytes: 1024 * KiB },
  }
  const attack = (one: RunRequest) => {
    bytes = 0
    return guests.run(one)
  }
  const { result, wallMs } = await runPatiently(attack, request, () => bytes >= 4_000_000)
  assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
  assert.ok(bytes >= 4_000_000 && bytes <= 8_000_000, String(bytes))
})

for (const [name, code] of Object.entries(callFloods)) {
  test(`a flood of ${name} ends the run, and the host stays small`, async () => {
    const { outcome } = await keepHeldFlat(() =>
      run(code, { count: () => 1 }, { limits: { ...limits, functionCallsMax: 1 } }),
    )
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: limits.outputBytes })
  })
}

test('calls in a run without functions are ignored', async () => {
  const { value, stderr } = await guests.run({
    ...python,
    code: `${pythonCalls}\nsend(frame(call('echo')))\n'sent'`,
    limits,
  })
  assert.equal(value, 'sent', stderr)
})

test('a call that is sent while the program ends does nothing', async () => {
  const { outcome } = await run(`send(frame(call('never')) * 50)\nos._exit(0)`, { never })
  assert.deepEqual(outcome, completed)
})

const pending = {
  bun: { ...bun, code: `for (let index = 0; index < 100; index++) void wait(index)` },
  node: { ...node, code: `for (let index = 0; index < 100; index++) void wait(index)` },
  python: {
    ...python,
    code: `import asyncio\nawait asyncio.gather(*(wait(index) for index in range(100)))`,
  },
}

for (const [name, request] of Object.entries(pending)) {
  test(`${name}: cancelling a run with 100 open calls aborts their signals, and late answers are dropped`, async () => {
    const controller = new AbortController()
    const all = Promise.withResolvers<void>()
    const late: (() => void)[] = []
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    let aborted = 0
    const running = guests.run({
      ...request,
      limits,
      signal: controller.signal,
      functions: {
        wait(index) {
          this.signal.addEventListener('abort', () => aborted++)
          return new Promise((resolve, reject) => {
            late.push(() => (Number(index) % 2 === 0 ? resolve(index) : reject(new Error('too late'))))
            if (late.length === 100) all.resolve()
          })
        },
      },
    })
    // If the run ends before that, its result explains why.
    await Promise.race([all.promise, running])
    controller.abort()
    assert.deepEqual((await running).outcome, { kind: 'cancelled' })
    assert.equal(aborted, 100)
    for (const answer of late) answer()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    assert.deepEqual(unhandled, [])
  })
}
