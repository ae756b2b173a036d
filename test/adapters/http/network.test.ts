/** A network policy over HTTP: who may request one, and what the reply reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { connectLazaret } from '../../../src/adapters/client/index.ts'
import { levelHere } from '../../support/machine/level-here.ts'
import { adaToken, send, serveHere } from './serve-here.ts'

const isRestricted = (await levelHere()) === 'restricted'
const needsNamespaces = isRestricted && 'without namespaces a policy is refused'

const network = { allow: ['good.example'] }
const code = 'getent hosts evil.example || echo not found'

test('a policy needs the permission of the token and of the operator', async () => {
  const engine = { access: { networks: ['none', 'policy'] } } as const
  await using narrow = await serveHere({ engine })
  await using wide = await serveHere({ engine, allow: ['network'] })
  const body = { language: 'shell', code, network }
  assert.equal((await send(narrow.url, '/v1/run', { body })).status, 403)
  const local = { ...body, network: { allow: ['localhost:1'] } }
  assert.equal((await send(wide.url, '/v1/run', { body: local })).status, 403)
  const bad = { ...body, network: { allow: ['https://good.example'] } }
  assert.equal((await send(wide.url, '/v1/run', { body: bad })).status, 400)
})

test(
  'it applies to runs and commands, and their receipts list what was refused',
  { skip: needsNamespaces },
  async () => {
    const engine = { access: { networks: ['none', 'policy'] } } as const
    await using here = await serveHere({ engine, allow: ['network'] })
    const { status, json } = await send(here.url, '/v1/run', { body: { language: 'shell', code, network } })
    assert.deepEqual([status, json['stdout']], [200, 'not found\n'])
    const remote = connectLazaret({ url: here.url, token: adaToken })
    const run = await remote.run({ language: 'shell', code, network })
    const refused = [{ host: 'evil.example', reason: 'not-allowed', count: 1 }]
    assert.deepEqual(run.receipt.network?.refused, refused)
    assert.match(run.toText(), /\n\nThe network policy refused evil\.example \(not-allowed\)\.$/)
    await using sandbox = await remote.sandbox({ network })
    const { isolation, receipt } = await sandbox.exec(code)
    assert.deepEqual([isolation.network, receipt.network?.wouldAllow], ['policy', ['evil.example']])
  },
)

test(
  'a run and a sandbox can use secrets, whose values are in no reply',
  { skip: needsNamespaces },
  async () => {
    const engine = { access: { networks: ['none', 'policy'] } } as const
    await using here = await serveHere({ engine, allow: ['network'] })
    const remote = connectLazaret({ url: here.url, token: adaToken })
    const value = 'sk-of-the-client-1'
    const secrets = { KEY: { value, hosts: ['good.example'] } }
    const run = await remote.run({ language: 'shell', code: 'echo $KEY', network, secrets })
    assert.match(run.stdout, /^lazaret_[0-9a-f]{32}\n$/)
    await using sandbox = await remote.sandbox({ network, secrets })
    assert.match((await sandbox.exec('env | grep ^KEY=')).stdout, /^KEY=lazaret_[0-9a-f]{32}\n$/)
    const body = { network, secrets: { KEY: { value, hosts: ['other.example'] } } }
    const { status, json } = await send(here.url, '/v1/sandboxes', { body })
    assert.equal(status, 400)
    assert.match(String(json['detail']), /other\.example:443/)
    assert.ok(!JSON.stringify(json).includes(value))
  },
)
