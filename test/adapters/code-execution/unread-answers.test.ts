/** Programs that end before they have read a long answer of the caller's function: their worker serves the next program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useService } from './use-service.ts'

const { outputOf } = useService({ poolSize: 1 })

/** Some forty times what a socket holds. */
const large = 'x'.repeat(8 * 1024 * 1024)
const bridge = { large: () => large }

test('the next program is not given a part of the answer that the last one did not read', async () => {
  // More ends than a slot may have crashes.
  for (let round = 0; round < 4; round++) {
    // Busy until the host has filled the socket.
    const unread = "bridge.large(); const end = Date.now() + 100; while (Date.now() < end); output = 'unread'"
    assert.equal(await outputOf(unread, { bridge }), 'unread')
    assert.equal(await outputOf('output = input + 1', { inputData: round }), round + 1)
  }
})
