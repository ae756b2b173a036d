/** Sandboxes on a machine that really refuses namespaces (support/without): weaker, and never without saying so. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { checkoutRoot } from '../../support/sources/checkout.ts'
import { WithoutLayers } from '../../support/hosts/without-layer.ts'
import type { Lacking } from '../../support/hosts/without-layer.ts'

const without = new WithoutLayers()
after(() => without[Symbol.dispose]())
const index = join(checkoutRoot, 'src/index.ts')
const isRoot = process.getuid?.() === 0

const noNamespaces: readonly Lacking[] = isRoot ? ['user-namespaces', 'sys-admin'] : ['user-namespaces']

/** The JSON output of a program with a sandbox there. */
async function inSandbox(body: string, options = '{}', lacking = noNamespaces): Promise<unknown> {
  const program = `
    import { createLazaret } from ${JSON.stringify(index)}
    const codeOf = (work) => work.then(() => 'done', (error) => error.code)
    const lazaret = createLazaret({ minimumProtection: 'restricted', access: { networks: ['none', 'host'] } })
    const options = ${options}
    const answer = await (async () => { ${body} })()
    await lazaret[Symbol.asyncDispose]()
    process.stdout.write(JSON.stringify(answer))`
  const command = [process.execPath, '--input-type=module', '-e', program]
  const { stdout, stderr, exitCode } = await without.run(lacking, command)
  assert.equal(exitCode, 0, stderr)
  return JSON.parse(stdout)
}

test('commands, sessions and processes work, and report their isolation', async () => {
  const answer = await inSandbox(`
    const sandbox = await lazaret.sandbox({ files: { 'a/b': 'given' } })
    const first = await sandbox.exec('export KEPT=1; cat a/b')
    const second = await sandbox.exec('echo $KEPT; setsid sleep 100 & sleep 100', { timeout: 5000 })
    const process = await sandbox.startProcess('echo up; sleep 100')
    await process.waitForLog('up')
    const killed = await sandbox.killAllProcesses()
    return [first.stdout, first.isolation, second.stdout, second.outcome.kind, killed]`)
  const isolation = { space: 'user', level: 'restricted', network: 'none' }
  assert.deepEqual(answer, ['given', isolation, '1\n', 'timed-out', 1])
})

test('commands with credentials are refused, unless an option allows them', async () => {
  assert.deepEqual(
    await inSandbox(`
      const sandbox = await lazaret.sandbox()
      const accepted = await lazaret.sandbox({ allowDegradedSecrets: true })
      const refused = await codeOf(sandbox.exec('echo $TOKEN', { env: { TOKEN: 'a' } }))
      const { stdout, isolation } = await accepted.exec('echo $TOKEN', { env: { TOKEN: 'a' } })
      const after = await accepted.exec('echo $TOKEN')
      return [refused, stdout, isolation.space, 'note' in isolation, after.stdout]`),
    ['SECRETS_UNPROTECTED', 'a\n', 'user', true, '\n'],
  )
})

test('options that cannot be enforced there are refused', async () => {
  assert.deepEqual(
    await inSandbox(`
      return [
        await codeOf(lazaret.sandbox({ network: 'host' })),
        await codeOf(lazaret.sandbox({ network: 'host', protectedPorts: [] }).then((one) => one.destroy())),
      ]`),
    ['JAIL_UNAVAILABLE', 'done'],
  )
})

test('without cgroups, processes of the user space use up none of a command with credentials', async () => {
  const answer = await inSandbox(
    `
      const sandbox = await lazaret.sandbox(options)
      const full = await sandbox.startProcess('for n in {1..20}; do sleep 60 & done; echo full; wait')
      await full.waitForLog('full')
      const forks = 'for n in {1..10}; do sleep 0.05 & done; wait; echo $TOKEN'
      const { stdout, stderr } = await sandbox.exec(forks, { env: { TOKEN: 'a' }, timeout: 5000 })
      return [full.status, stdout, stderr]`,
    '{ limits: { processesMax: 24 } }',
    ['cgroups'],
  )
  assert.deepEqual(answer, ['running', 'a\n', ''])
})
