/** Messages that are meant to break their reader. `receive` accepts anything and never rejects. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type Actor, MessageRouter } from '../../../src/adapters/actor/index.ts'
import { useActor } from './use-actor.ts'

const { actor } = await useActor()

const receive = (message: unknown) => actor.receive(message as never)

suite('a message', () => {
  const thrown: Readonly<Record<string, () => unknown>> = {
    'without a prototype': () => Object.create(null),
    'with a message that throws': () =>
      Object.defineProperty(new Error('x'), 'message', { get: () => assert.fail() }),
    'with a prototype that throws': () => new Proxy({}, { getPrototypeOf: () => assert.fail() }),
    'that is a symbol': () => Symbol('x'),
  }
  for (const [name, make] of Object.entries(thrown))
    test(`whose getter throws something ${name} is answered`, async () => {
      const message = {
        id: 'a',
        get type(): string {
          throw make()
        },
      }
      const { id, success, error, payload } = await receive(message)
      assert.deepEqual([id, success, payload], ['a_response', false, undefined])
      assert.match(error ?? '', /^The message could not be read: ./)
    })

  test('with an id of the maximum string length is answered under another id', async () => {
    const { id, correlationId, success } = await receive({ id: 'x'.repeat(2 ** 29 - 24), type: 'wrong' })
    assert.equal(id, `${correlationId}_response`)
    assert.ok(id.length < 100 && !success)
  })
})

test('a number is accepted as a name', async () => {
  const { id, to } = await actor.receive({ id: 7, from: 8, type: 'none' } as never)
  assert.deepEqual([id, to], ['7_response', '8'])
})

test('only actors can be registered', () => {
  for (const none of [undefined, null, {}, { receive: 1 }])
    assert.throws(() => new MessageRouter().register('x', none as unknown as Actor), {
      code: 'INVALID_REQUEST',
    })
})

test('a timeout as text is distinguished from a number', async () => {
  const { error } = await actor.receive({ type: 'execute', payload: { code: '1', timeout: '100' } })
  assert.equal(error, "The timeout must be a positive number of milliseconds, got the string '100'")
})
