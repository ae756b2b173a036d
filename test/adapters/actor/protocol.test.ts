/** Messages in, envelopes out: the contents of an answer, and what is refused in which order. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import {
  MessageRouter,
  SubprocessCodeExecutionActor,
  WorkerCodeExecutionActor,
} from '../../../src/adapters/actor/index.ts'
import type { Message, MessageResponse } from '../../../src/adapters/actor/index.ts'
import { LazaretError } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { useActor } from './use-actor.ts'

const { actor, ask, guests } = await useActor()
const ownAddress = '@(code-execution)'

suite('the envelope', () => {
  test('answers the sender of the message', async () => {
    const before = Date.now()
    const answer = await actor.receive({
      id: 'req-1',
      from: 'user',
      to: 'code-execution',
      type: 'execute',
      payload: { code: '1 + 1', language: 'javascript', timeout: 10_000 },
      timestamp: before,
      pattern: 'ask',
      metadata: { any: 'thing' },
    })
    const { timestamp, payload, ...rest } = answer
    assert.deepEqual(rest, {
      id: 'req-1_response',
      correlationId: 'req-1',
      from: ownAddress,
      to: 'user',
      success: true,
    })
    assert.ok(timestamp >= before && timestamp <= Date.now())
    assert.equal(payload?.result, 2)
  })

  test('keeps its own correlation id, and fills in missing fields', async () => {
    const correlated = await actor.receive({ type: 'wrong', id: 'a', correlationId: 'b' })
    assert.equal(correlated.correlationId, 'b')
    const answers = await Promise.all(
      [1, 2].map(() => actor.receive({ type: 'execute', payload: { code: '1' } })),
    )
    const ids = answers.map(({ id, correlationId, to }) => {
      assert.equal(to, ownAddress)
      assert.equal(id, `${correlationId}_response`)
      return correlationId
    })
    assert.notEqual(ids[0], ids[1])
    assert.ok(ids.every((id) => id.length > 10))
  })

  test('of a success has a payload of four keys in this order, or three without a value', async () => {
    const { payload } = await ask({ code: 'console.log(1); 2' })
    assert.deepEqual(Object.keys(payload ?? {}), ['result', 'logs', 'executionTime', 'language'])
    assert.ok(Number.isInteger(payload?.executionTime))
    const empty = await ask({ code: 'undefined', language: 'typescript' })
    assert.deepEqual(Object.keys(empty.payload ?? {}), ['logs', 'executionTime', 'language'])
    assert.equal(empty.payload?.language, 'typescript')
  })

  test('of a failure has the error, logs and time, but no value', async () => {
    const { success, error, payload } = await ask({
      code: 'console.log(1); throw new Error("Something failed")',
    })
    assert.deepEqual([success, error], [false, 'Something failed'])
    assert.deepEqual(Object.keys(payload ?? {}), ['logs', 'executionTime'])
    assert.deepEqual(payload?.logs, ['1'])
  })
})

/** Each also has every mistake that a later check would find. */
const refusals: readonly (readonly [unknown, RegExp])[] = [
  [{ type: 'run', payload: {} }, /^Expected message type 'execute', got 'run'$/],
  [{ payload: { code: '1' } }, /^Expected message type 'execute', got 'undefined'$/],
  [{ type: 'execute' }, /^No code provided$/],
  [{ type: 'execute', payload: null }, /^No code provided$/],
  [{ type: 'execute', payload: 'text' }, /^No code provided$/],
  [{ type: 'execute', payload: { code: '', language: 'cobol', timeout: -1 } }, /^No code provided$/],
  [{ type: 'execute', payload: { code: null } }, /^No code provided$/],
  [
    { type: 'execute', payload: { code: 5, language: 'python', timeout: -1 } },
    /^Unsupported language: python\. Supported: javascript, typescript$/,
  ],
  [
    { type: 'execute', payload: { code: '1', language: 'JavaScript' } },
    /^Unsupported language: JavaScript\./,
  ],
  [{ type: 'execute', payload: { code: '1', language: '' } }, /^Unsupported language: \. Supported/],
  [{ type: 'execute', payload: { code: '1', language: ['javascript'] } }, /^Unsupported language: a list\./],
  [
    { type: 'execute', payload: { code: 5, language: null, timeout: -1 } },
    /^The code must be a string, got 5$/,
  ],
  [{ type: 'execute', payload: { code: ['1'] } }, /^The code must be a string, got a list$/],
  [{ type: 'execute', payload: { code: '1', language: null, timeout: -1 } }, /^Unsupported language: null\./],
  ...[null, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1000', true, [], {}, 5n, Symbol('a')].map(
    (timeout) =>
      [
        { type: 'execute', payload: { code: '1', timeout } },
        /^The timeout must be a positive number of milliseconds, got /,
      ] as const,
  ),
  [
    { type: 'execute', payload: { code: '1', timeout: 300_001 } },
    /^The timeout may be at most 300000ms, got 300001ms$/,
  ],
  [null, /^Expected message type/],
  ['execute', /^Expected message type/],
  [[], /^Expected message type/],
]

suite('an invalid message', () => {
  for (const [message, error] of refusals) {
    test(`is refused without running: ${describe(message)}`, async () => {
      const answer: MessageResponse = await actor.receive(message as Message)
      assert.equal(answer.success, false)
      assert.match(answer.error ?? '', error)
      assert.equal('payload' in answer, false)
      assert.equal(answer.from, ownAddress)
    })
  }

  test('is refused also if reading it throws', async () => {
    const thrower = new Proxy(
      {},
      {
        get() {
          throw new Error('no')
        },
      },
    )
    for (const message of [
      thrower,
      { type: 'execute', payload: thrower },
      { type: 'execute', id: thrower, payload: { code: '' } },
    ]) {
      const { success, error } = await actor.receive(message as Message)
      assert.equal(success, false)
      assert.ok(error)
    }
  })

  test('shows a hostile type as one short line', async () => {
    const { error = '' } = await actor.receive({ type: `a\n\u001B[31m${'x'.repeat(10_000)}` })
    assert.ok(error.length < 200)
    assert.doesNotMatch(error, /\p{Cc}/u)
  })

  test('a refusal of the engine is an answer with its hint and without a payload', async () => {
    const answer = await ask({ code: `"${'x'.repeat(2 * 1024 * 1024)}"` })
    assert.equal(answer.success, false)
    assert.match(answer.error ?? '', /larger than its limits allow.*codeBytes.*Send less/s)
    assert.equal('payload' in answer, false)
    assert.match((await ask({ code: '1\0' })).error ?? '', /must not contain NUL/)
  })

  test('also after the actor was disposed', async () => {
    const disposed = new SubprocessCodeExecutionActor(new MessageRouter())
    await disposed.dispose()
    await disposed.dispose()
    const { success, error } = await disposed.receive({ type: 'execute', payload: { code: '1' } })
    assert.equal(success, false)
    assert.match(error ?? '', /disposed/)
  })
})

test('an invalid default timeout is refused when the actor is created', () => {
  for (const wrong of [0, -1, Number.NaN, 300_001, '5000' as never]) {
    assert.throws(
      () => new SubprocessCodeExecutionActor(new MessageRouter(), wrong),
      (error) => error instanceof LazaretError && error.code === 'INVALID_REQUEST',
    )
  }
})

test('the ceiling on time is the operator’s', async () => {
  await using lower = new SubprocessCodeExecutionActor(new MessageRouter(), undefined, {
    ceilings: { wallMs: 1000 },
  })
  const { error } = await lower.receive({ type: 'execute', payload: { code: '1', timeout: 1001 } })
  assert.equal(error, 'The timeout may be at most 1000ms, got 1001ms')
  await using higher = new SubprocessCodeExecutionActor(new MessageRouter(), 400_000, {
    ceilings: { wallMs: 500_000 },
  })
  const { payload } = await higher.receive({ type: 'execute', payload: { code: '1', timeout: 400_001 } })
  assert.equal(payload?.result, 1)
})

test('a Lazaret that was passed to the actor is not disposed with it', async () => {
  await using lazaret = createLazaret()
  const short = new SubprocessCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
  await short.dispose()
  assert.equal((await lazaret.run({ language: 'shell', code: ':' })).outcome.kind, 'completed')
})

test('a process that never disposes its actor exits on its own, and leaves nothing behind', async () => {
  const entry = join(checkoutRoot, 'src/adapters/actor/index.ts')
  const program = `
    import { MessageRouter, SubprocessCodeExecutionActor } from ${JSON.stringify(entry)}
    const actor = new SubprocessCodeExecutionActor(new MessageRouter())
    for (let turn = 0; turn < 3; turn++) await actor.receive({ type: 'execute', payload: { code: '1' } })
    await actor.warmUp(2)
    console.log('done')`
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([ended.status, ended.stdout], [0, 'done\n'], ended.stderr)
  await guests.leaks.check()
})

test('the actor on isolates checks and answers like the one on cells', async () => {
  await using worker = new WorkerCodeExecutionActor(new MessageRouter())
  for (const [message, error] of refusals)
    assert.match((await worker.receive(message as Message)).error ?? '', error)
  const code = 'console.log("seen"); const all: number[] = [1, 2]; ({ all, when: new Date(0) })'
  const answer = await worker.receive({ type: 'execute', id: 'a', payload: { code, language: 'typescript' } })
  const { result, logs } = answer.payload ?? {}
  assert.deepEqual([answer.success, answer.error], [true, undefined])
  assert.deepEqual([result, logs], [{ all: [1, 2], when: '1970-01-01T00:00:00.000Z' }, ['seen']])
})

suite('the router', () => {
  test('asks the actor at an address, and returns its answer', async () => {
    const router = new MessageRouter()
    router.register('code', actor)
    const { payload, correlationId } = await router.ask({
      id: 'a',
      to: 'code',
      type: 'execute',
      payload: { code: '3' },
    })
    assert.deepEqual([payload?.result, correlationId], [3, 'a'])
  })

  test('sends without an answer', async () => {
    const router = new MessageRouter()
    const received = Promise.withResolvers<Message>()
    router.register('code', {
      receive(message) {
        received.resolve(message)
        return Promise.reject(new Error('nobody hears this'))
      },
    })
    assert.equal(router.send({ to: 'code', type: 'any' }), undefined)
    assert.deepEqual(await received.promise, { to: 'code', type: 'any' })
  })

  test('names an address without a registered actor', async () => {
    const router = new MessageRouter()
    const isRefusal = (error: unknown) =>
      error instanceof LazaretError && /No actor is registered as "x"/.test(error.message)
    assert.throws(() => router.send({ to: 'x', type: 'execute' }), isRefusal)
    await assert.rejects(router.ask({ to: 'x', type: 'execute' }), isRefusal)
    await assert.rejects(router.ask({ type: 'execute' }), /names no receiver/)
    assert.throws(() => router.register('', actor), LazaretError)
  })
})

test('messages beyond the queue limit are answered with a hint, and the others are served', async () => {
  // Starts happen one after the other, and up to ten thousand may wait.
  const busy = new SubprocessCodeExecutionActor(new MessageRouter(), 20_000, { pools: { bun: { max: 0 } } })
  const message = { type: 'execute', payload: { code: '1' } }
  const refused = Promise.withResolvers<MessageResponse>()
  let others = 0
  const all = Array.from({ length: 10_050 }, async () => {
    const answer = await busy.receive(message)
    if (/Execution queue full/.test(answer.error ?? '')) refused.resolve(answer)
    else others++
  })
  const answer = await refused.promise
  assert.equal(answer.success, false)
  assert.match(answer.error ?? '', /[Rr]etry|Try again/)
  assert.equal('payload' in answer, false)
  await busy.dispose()
  await Promise.all(all)
  assert.ok(others >= 10_000, `${others}`)
  await guests.leaks.check()
})

function describe(message: unknown): string {
  return JSON.stringify(message, (_, value: unknown) =>
    ['bigint', 'symbol', 'number'].includes(typeof value) ? String(value) : value,
  )
}
