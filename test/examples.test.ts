/** Starts the examples as a reader does. The exit code says whether each ended as expected. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

import { WithoutLayers } from './support/hosts/without-layer.ts'
import { createLazaret } from './support/create-lazaret.ts'
import { checkoutRoot, readText } from './support/sources/checkout.ts'
import { whyNoSandboxes } from './support/sandboxes-here.ts'

/** Far more than any of them needs. */
const exampleMs = 120_000

const skip = await whyNoSandboxes()

function runExample(name: string): string {
  const ran = spawnSync(process.execPath, [join(checkoutRoot, 'examples', name)], {
    encoding: 'utf8',
    timeout: exampleMs,
  })
  assert.equal(ran.status, 0, `${ran.stdout}\n${ran.stderr}`)
  return ran.stdout
}

test('the jobs and the programs that misbehave end as expected', () => {
  assert.match(runExample('start.ts'), /Every program ended as expected\./)
})

test('in a plain container the jobs run at the level that it reaches, and the output says so first', async () => {
  using without = new WithoutLayers()
  const lacking = ['user-namespaces', ...(process.getuid?.() === 0 ? (['sys-admin'] as const) : [])] as const
  const start = [process.execPath, join(checkoutRoot, 'examples/start.ts')]
  const { exitCode, stdout } = await without.run(lacking, start)
  assert.equal(exitCode, 0, stdout)
  assert.match(
    stdout,
    /This machine reaches level restricted at most.*The examples accept level restricted:\n/s,
  )
  assert.match(stdout, /^jobs\/sales\.py .* restricted /m)
  assert.match(stdout, /Every program ended as expected\./)
  const refused = await without.run(lacking, [...start, '--minimum', 'standard'])
  assert.equal(refused.exitCode, 69)
})

test('the actor answers every message of its demo as expected', () => {
  assert.match(runExample('actor.ts'), /Every message was answered as expected\./)
})

test('the snippets of the example end as expected', () => {
  assert.match(runExample('snippets.ts'), /Every snippet ended as it should\./)
})

test('the sandbox example leaves a used token nowhere', { skip }, () => {
  const story = runExample('sandbox.ts')
  assert.match(story, /^release is accepted {2}secure {2}exit 0 {2}\{"status": 201/m)
  assert.match(story, /Every step went as it should\./)
})

test(
  'its search finds a token in the environment of a process, on a command line and in files',
  { skip },
  async () => {
    await using lazaret = createLazaret()
    const token = `release-${crypto.randomUUID()}`
    const files = { 'find_token.py': readText('examples/sandbox/find_token.py') }
    await using sandbox = await lazaret.sandbox({ files, env: { RELEASE_TOKEN: token } })
    await sandbox.exec('echo "$RELEASE_TOKEN" > /tmp/token')
    const sleeper = await sandbox.startProcess('exec -a "$RELEASE_TOKEN" sleep 600')
    await sandbox.exec(`until grep -qa release- /proc/${sleeper.pid}/cmdline; do :; done`)
    const { stdout } = await sandbox.exec('python3 find_token.py', {
      stdin: `${token.slice(0, 20)}\n${token.slice(20)}`,
    })
    for (const place of [`/proc/${sleeper.pid}/environ`, `/proc/${sleeper.pid}/cmdline`, '/tmp/token'])
      assert.ok(stdout.includes(place), stdout)
  },
)
