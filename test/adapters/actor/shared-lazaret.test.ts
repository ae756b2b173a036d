/** An actor with its own Lazaret or with a shared one, and after the actor's end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'

test('a message that exceeds the time limit of the Lazaret is answered with that limit', async () => {
  await using lazaret = createLazaret({ ceilings: { wallMs: 200 } })
  const actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
  const { error } = await actor.receive({ type: 'execute', payload: { code: 'for (;;);', timeout: 60_000 } })
  assert.equal(error, 'Execution timed out after 200ms (process killed)')
})

test('a disposed actor reports that', async () => {
  const actor = new SubprocessCodeExecutionActor(new MessageRouter())
  await actor.dispose()
  const { success, error } = await actor.receive({ type: 'execute', payload: { code: '1' } })
  assert.equal(success, false)
  assert.match(error ?? '', /^The actor was disposed/)
})
