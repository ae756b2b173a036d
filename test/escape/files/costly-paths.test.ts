/** Files of a request whose paths take the host long to check: thousands of them, each in many folders. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { growthBytesMax, keepLoopFree } from '../../support/machine/loop-delay.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const shell = { language: 'shell', code: 'true' } as const
const names = Array.from({ length: 9000 }, (_, number) => `${number}`)
const long = 'd'.repeat(50)

const refused: Readonly<Record<string, { readonly path: (name: string) => string; readonly by: RegExp }>> = {
  'in sixty folders of its own': {
    path: (name) => `${name}/${'d/'.repeat(60)}x`,
    by: /files: 558001 files and folders/,
  },
  'in sixty folders with long names': {
    path: (name) => `${`${long}/`.repeat(60)}${name}`,
    by: /files: paths of more than 4194304 characters/,
  },
}
for (const [where, { path, by }] of Object.entries(refused))
  test(`nine thousand files, each ${where}, are refused without blocking the host`, async () => {
    const files = Object.fromEntries(names.map((name) => [path(name), '']))
    const attempt = () => guests.run({ ...shell, files }).then(() => 'none', String)
    assert.match(await keepLoopFree(where, attempt, { growthBytesMax }), by)
  })
