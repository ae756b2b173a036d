/** Functions of the caller that return what the guest has sent them, with a part that cannot go back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonCalls } from '../../support/hostile/forged-messages.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const part = `{'$type': 'Unserializable', 'text': 'a part'}`
const sent: Readonly<Record<string, string>> = {
  'a million numbers': `[0] * 1_000_000 + [${part}]`,
  'fifty thousand lists': `[[]] * 50_000 + [${part}]`,
  'ten thousand keys': `{**{f'a{n}': 0 for n in range(10_000)}, 'z': ${part}}`,
}
const functions = { echo: (value: unknown) => value }

for (const [what, value] of Object.entries(sent))
  test(`${what}, and a part that cannot go back: returning them does not block the host`, async () => {
    const code = `${pythonCalls}\nask(call('echo', ${value}))['error']['message']`
    const { value: message, stderr } = await keepLoopFree(what, () =>
      guests.run({ ...python, code, functions, limits: { hostMs: 30_000, wallMs: 60_000 } }),
    )
    assert.match(message as string, /^What 'echo' returned cannot be sent: (`\.z` is )?a part$/, stderr)
  })
