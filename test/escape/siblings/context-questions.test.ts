/** Questions of a code context (`input()`), which the host passes on, and their answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonFrames } from '../../support/hostile/forged-messages.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { describeContexts } from '../../sandbox/contexts/use-contexts.ts'

/** A list whose text has a comma for each of 2^24 pairs, although it is sent in two kilobytes. */
const sharedLists = [
  [],
  ...Array.from({ length: 24 }, (_, index) => {
    const previous = { $type: 'Ref', path: [0, index] }
    return [previous, previous]
  }),
]

/** A call that the harness does not send: its prompts are strings. */
const forge = (prompt: unknown): string => `${pythonFrames}
import json, time
send(frame(json.loads(${JSON.stringify(JSON.stringify({ type: 'call', id: 900_000, name: 'input()', args: [prompt] }))})))
time.sleep(0.5)
print("still here")`

await describeContexts((sandbox) => {
  for (const [what, prompt] of Object.entries({
    'lists that share lists': sharedLists,
    'an object without a text': { toString: 1 },
    'a long number': { $type: 'BigInt', value: `0x${'f'.repeat(500_000)}` },
  }))
    test(`a prompt that is no string, but ${what}, is not asked, and does not block the host`, async () => {
      const asked: unknown[] = []
      const { stdout, stderr } = await keepLoopFree(what, () =>
        sandbox.runCode(forge(prompt), { onInput: (one) => (asked.push(one), 'answer') }),
      )
      assert.deepEqual([asked, stdout], [[], 'still here\n'], stderr)
    })

  test('a prompt that is a string is asked', async () => {
    const asked: string[] = []
    const { value } = await sandbox.runCode('input("name?")', { onInput: (one) => (asked.push(one), 'me') })
    assert.deepEqual([asked, value], [['name?'], 'me'])
  })
})
