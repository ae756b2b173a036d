/** The package sources of builds: those in the machine's configuration, and who may have written it. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { findPackageSources } from '../../src/environments/package-sources.ts'
import { sourceNetwork } from '../../src/environments/source-network.ts'

const home = mkdtempSync(join(tmpdir(), 'sources-'))
after(() => rmSync(home, { recursive: true }))

function write(name: string, text: string, mode = 0o600): void {
  const path = join(home, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
}

const find = (more = {}) => findPackageSources({ HOME: home, ...more })

test('addresses come from variables, or else from the files of pip and npm', () => {
  write(
    '.config/pip/pip.conf',
    '[list]\nindex-url = https://no.example\n[global]\nindex-url: https://a.example/simple\n',
  )
  write('.npmrc', 'registry=https://npm.example/\n')
  const { index, registry, variables } = find()
  assert.deepEqual([index, registry], ['https://a.example/simple', 'https://npm.example/'])
  assert.equal(variables['PIP_INDEX_URL'], 'https://a.example/simple')
  assert.equal(find({ PIP_INDEX_URL: 'https://b.example' }).index, 'https://b.example')
})

test('a file that others can write is ignored', () => {
  write('.npmrc', 'registry=https://evil.example/\n', 0o666)
  write('.config/pip/pip.conf', '[global]\nfind-links = /etc\n', 0o622)
  const { registry, variables, binds } = find()
  assert.deepEqual([registry, variables['PIP_FIND_LINKS'], binds], [undefined, undefined, []])
})

test('passwords in addresses stay outside the cell', () => {
  const secret = 'https://ada:hunter2@a.example/simple'
  const sources = find({ PIP_INDEX_URL: secret, PIP_EXTRA_INDEX_URL: secret, npm_config_registry: secret })
  assert.ok(!JSON.stringify(sources.variables).includes('hunter2'), JSON.stringify(sources.variables))
  assert.equal(sources.variables['PIP_INDEX_URL'], 'https://a.example/simple')
})

test('local folders are mounted at separate paths, an index together with its siblings', () => {
  mkdirSync(join(home, 'index/simple'), { recursive: true })
  mkdirSync(join(home, 'wheels'))
  const { variables, binds } = find({
    PIP_INDEX_URL: `file://${home}/index/simple`,
    PIP_FIND_LINKS: join(home, 'wheels'),
  })
  assert.equal(variables['PIP_INDEX_URL'], 'file:///opt/lazaret/sources/0/simple')
  assert.deepEqual(binds, [
    { host: join(home, 'index'), guest: '/opt/lazaret/sources/0' },
    { host: join(home, 'wheels'), guest: '/opt/lazaret/sources/1' },
  ])
})

test('a build reaches the package sources at their ports, and hosts that the operator adds', async () => {
  const addresses = ['https://203.0.113.7/simple', 'http://[2001:db8::1]:8080/', 'file:///srv', 'nonsense']
  const { allow } = await sourceNetwork(addresses, ['files.example:443'])
  assert.deepEqual(allow, ['203.0.113.7/32:443', '[2001:db8::1]/128:8080', 'files.example:443'])
})
