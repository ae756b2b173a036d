/** Programs that need a network and have none fail at once, and the result says why. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useSandbox } from '../use-sandbox.ts'

const { sandbox } = await useSandbox({ files: { 'package.json': '{}' } })

const installs: Readonly<Record<string, string>> = {
  npm: 'npm install left-pad',
  // Into a separate folder, because Debian's pip refuses to install into Debian's Python.
  pip: 'python3 -m pip install --target /tmp/installed left-pad',
}
for (const [program, command] of Object.entries(installs))
  test(`an install by ${program} fails at once, with the reason`, async (context) => {
    const look = program === 'pip' ? 'python3 -m pip --version' : 'npm --version'
    if (!(await sandbox.exec(look)).success) return context.skip(`there is no ${program} here`)
    // Retries would take npm 70 s and pip 15 s.
    const { outcome, isolation, stderr } = await sandbox.exec(command)
    assert.equal(outcome.kind, 'completed')
    assert.match(isolation.note ?? '', /no network \(`network: 'none'`\)/, stderr)
    assert.doesNotMatch(stderr, /Retry|retrying/i)
  })

test('the network is mentioned only if it is the reason for a failure', async () => {
  assert.equal((await sandbox.exec('ls /nowhere')).isolation.note, undefined)
  assert.equal((await sandbox.exec('echo EAI_AGAIN')).isolation.note, undefined)
  assert.match((await sandbox.exec('echo EAI_AGAIN; exit 1')).isolation.note ?? '', /no network/)
})
