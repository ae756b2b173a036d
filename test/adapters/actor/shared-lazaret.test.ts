/** An actor on a Lazaret of its own or of somebody else's, and after its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'

test('a Lazaret that allows less time than a message asks for is named with its own limit', async () => {
  await using lazaret = createLazaret({ ceilings: { wallMs: 200 } })
  const actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
  const { error } = await actor.receive({ type: 'execute', payload: { code: 'for (;;);', timeout: 60_000 } })
  assert.equal(error, 'Execution timed out after 200ms (process killed)')
})

test('an actor that was disposed says so', async () => {
  const actor = new SubprocessCodeExecutionActor(new MessageRouter())
  await actor.dispose()
  const { success, error } = await actor.receive({ type: 'execute', payload: { code: '1' } })
  assert.equal(success, false)
  assert.match(error ?? '', /^The actor was disposed/)
})
