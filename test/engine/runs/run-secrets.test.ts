/** A key that a run uses over TLS without having it. No policy, event or record contains it either. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

import type { EdgeSecrets, RunRequest } from '../../../src/index.ts'
import { createAuthority } from '../../../src/jail/edge/secrets/authority.ts'
import { hasCommand } from '../../jail/seccomp/filtered-command.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { SecretApi } from '../../support/hosts/secret-api.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const folder = mkdtempSync(join(tmpdir(), 'lazaret-secrets-'))
const audit = join(folder, 'audit.log')
const operator = createAuthority()
writeFileSync(join(folder, 'operator.pem'), operator.certificate)
const before = process.env['NODE_EXTRA_CA_CERTS']
process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'operator.pem')
const api = await SecretApi.open(operator)
const reported: unknown[] = []
const lazaret = createLazaret({
  access: { networks: ['none', 'local-policy'] },
  audit: { file: audit },
  admit: (work) => void reported.push(work),
  onEvent: (event) => void reported.push(event),
})
const { level } = await lazaret.probe()
const obstacle = level === 'restricted' && 'without namespaces a policy is refused'
const value = 'sk-Of+a-Run/42'
const host = `localhost:${api.port}`
const network = { allow: [host] }
const secrets: EdgeSecrets = { API_KEY: { value, hosts: [host] } }

after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
  if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS']
  else process.env['NODE_EXTRA_CA_CERTS'] = before
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

const fetching = `
const response = await fetch('https://${host}/', { headers: { authorization: 'Bearer ' + process.env.API_KEY } })
console.log(process.env.API_KEY, await response.text())`
const programs = {
  bun: fetching,
  node: fetching,
  python: `
import os, urllib.request
headers = {'Authorization': 'Bearer ' + os.environ['API_KEY']}
answer = urllib.request.urlopen(urllib.request.Request('https://${host}/', headers=headers))
print(os.environ['API_KEY'], answer.read().decode())`,
  shell: `echo $API_KEY $(curl -sS -H "Authorization: Bearer $API_KEY" https://${host}/)`,
} as const
const languages = { bun: 'javascript', node: 'javascript', python: 'python', shell: 'shell' } as const

describe('a secret of a run', { skip: obstacle }, () => {
  for (const runtime of ['bun', 'node', 'python', 'shell'] as const) {
    const skip = runtime === 'shell' && !hasCommand('curl') && 'there is no curl'
    it(`is used by ${runtime}, with a new placeholder each time`, { skip }, async () => {
      const placeholders = new Set<string>()
      for (let turn = 0; turn < 3; turn++) {
        api.seen.length = 0
        const request = { language: languages[runtime], runtime, code: programs[runtime] }
        const result = await lazaret.run({ ...request, network, secrets })
        assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
        assert.equal(api.last.headers['authorization'], `Bearer ${value}`)
        assert.match(result.stdout, /"authorization":"Bearer \*{14}"/)
        assert.equal(result.receipt.start, 'cold')
        assert.deepEqual(
          result.receipt.network?.hosts.map((one) => one.port),
          [api.port],
        )
        placeholders.add(result.stdout.split(' ')[0] ?? '')
        assert.ok(!JSON.stringify(result).includes('sk-Of'))
      }
      assert.equal(placeholders.size, 3)
      for (const one of placeholders) assert.match(one, /^lazaret_[0-9a-f]{32}$/)
    })
  }

  it('is in no policy, event or audit log', async () => {
    await lazaret.run({ language: 'shell', code: 'true', network, secrets })
    const all = `${JSON.stringify(reported)}${readFileSync(audit, 'utf8')}`
    assert.match(all, /API_KEY/)
    assert.ok(!all.includes('sk-Of'), 'the value was told')
  })

  it('does not change a variable with which the request names its own certificates', async () => {
    const env = { SSL_CERT_FILE: '/workspace/own.pem' }
    const code = 'echo $SSL_CERT_FILE; head -1 $NODE_EXTRA_CA_CERTS'
    const { stdout } = await lazaret.run({ language: 'shell', code, network, secrets, env })
    assert.equal(stdout, '/workspace/own.pem\n-----BEGIN CERTIFICATE-----\n')
  })

  it('is not in the variables of the next run', async () => {
    const code = 'env'
    const { stdout } = await lazaret.run({ language: 'shell', code, network })
    assert.doesNotMatch(stdout, /API_KEY|lazaret_|SSL_CERT_FILE/)
  })
})

describe('a secret of a run that could not be protected', () => {
  const refuses = (more: Partial<RunRequest>, message: RegExp) =>
    assert.rejects(lazaret.run({ language: 'shell', code: ':', secrets, ...more }), (error: Error) => {
      assert.match(error.message, message)
      assert.ok(!error.message.includes('sk-Of'))
      return true
    })

  it('is refused', async () => {
    await refuses({}, /a network policy/)
    await refuses({ network: 'none' }, /a network policy/)
    await refuses({ network: { allow: ['other.example.com'] } }, /API_KEY is for localhost/)
    await refuses({ network, env: { API_KEY: 'mine' } }, /env: has the name of a secret/)
    await refuses({ network, language: 'javascript', runtime: 'isolate' }, /snippets and isolates/)
    await refuses({ network, secrets: { KEY: { value: 'short', hosts: [host] } } }, /8 to 4096/)
  })
})
