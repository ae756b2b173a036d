/** What a session's shell leaves for the next command, and for the commands after that: the host writes it into the script of each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const reason = await whyNoSandboxes()
const { lazaret } = await useLazaret()

/** A text for the state itself. Bash has moved its descriptor here while the command runs. */
const forge = (start: string, fill: string, end: string): string =>
  `{ printf '${start}'; head -c 900000 /dev/zero | ${fill}; printf '${end}'; } >&10`

const states: Readonly<Record<string, string>> = {
  'functions of unusual bytes': forge(
    String.raw`/tmp\0\0\0\0\0\0:;`,
    String.raw`tr '\0' '\n'`,
    String.raw`\0`,
  ),
  'a folder of unusual bytes': forge('/', String.raw`tr '\0' '\377'`, String.raw`\0\0\0\0\0\0\0`),
  'options without an end': forge(
    String.raw`/tmp\0\0`,
    String.raw`head -c 450000 | sed 's/\x00/a:/g'`,
    String.raw`\0\0\0\0\0`,
  ),
}

for (const [what, command] of Object.entries(states))
  test(`${what}: the next commands of the session do not block the host`, { skip: reason }, async () => {
    await using sandbox = await lazaret.sandbox()
    const printed = await keepLoopFree(what, async () => {
      const session = await sandbox.createSession()
      await session.exec(command)
      const next: string[] = []
      for (let count = 0; count < 3; count++) next.push((await session.exec('echo next')).stdout)
      return next
    })
    assert.deepEqual(printed, Array(3).fill('next\n'))
  })
