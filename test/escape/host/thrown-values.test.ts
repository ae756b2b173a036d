/** Functions of the caller that throw, or return, what the guest has sent them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonCalls } from '../../support/hostile/forged-messages.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const sent: Readonly<Record<string, string>> = {
  'lists that share lists': `[[], *([{'$type': 'Ref', 'path': [0, n]}] * 2 for n in range(24))]`,
  'a long number': `{'$type': 'BigInt', 'value': '0x' + 'f' * 500_000}`,
  'a million bytes': `{'$type': 'bytes', 'value': 'AAAA' * 300_000}`,
}
const functions = {
  refuse: (value: unknown) => {
    throw value
  },
  reject: (value: unknown) => Promise.reject(value),
}

for (const [what, value] of Object.entries(sent))
  test(`${what}: throwing it does not block the host`, async () => {
    const code = `${pythonCalls}\nvalue = ${value}\n[ask(call(name, value))['error']['message'] for name in ('refuse', 'reject')]`
    const answer = await keepLoopFree(what, () => guests.run({ ...python, code, functions }))
    assert.deepEqual(answer.value, Array(2).fill('a value that is no error'), answer.stderr)
  })

const part = `{'$type': 'Unserializable', 'text': 'a part'}`
const returned: Readonly<Record<string, string>> = {
  'a million numbers': `[0] * 1_000_000 + [${part}]`,
  'fifty thousand lists': `[[]] * 50_000 + [${part}]`,
  'ten thousand keys': `{**{f'a{n}': 0 for n in range(10_000)}, 'z': ${part}}`,
}
const echo = (value: unknown): unknown => value

for (const [what, value] of Object.entries(returned))
  test(`${what}, and a part that cannot go back: returning them does not block the host`, async () => {
    const code = `${pythonCalls}\nask(call('echo', ${value}))['error']['message']`
    const limits = { hostMs: 30_000, wallMs: 60_000 }
    const answer = await keepLoopFree(what, () =>
      guests.run({ ...python, code, functions: { echo }, limits }),
    )
    assert.match(answer.value as string, /^What 'echo' returned cannot be sent: .*a part$/, answer.stderr)
  })
