/** pip, npm and requests reach a TLS server that a rule names, and fail at once with one that no rule names. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

import { createAuthority, issueFor } from '../../../src/jail/edge/secrets/authority.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const lazaret = createLazaret({ access: { networks: ['none', 'local-policy'] } })
const { level } = await lazaret.probe()
const obstacle = level === 'restricted' && 'without namespaces a policy is refused'

const writeWheel = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('thing.py', 'state = "installed"')
    wheel.writestr('thing-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n')
    wheel.writestr('thing-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('thing-1.0.dist-info/RECORD', 'thing.py,,\\nthing-1.0.dist-info/METADATA,,\\nthing-1.0.dist-info/WHEEL,,\\nthing-1.0.dist-info/RECORD,,\\n')`

const wheel = 'thing-1.0-py3-none-any.whl'
const folder = mkdtempSync(join(tmpdir(), 'lazaret-packages-'))
const files = obstacle === false ? packThing() : new Map<string, Buffer>()
const authority = createAuthority()
const { key, certificate } = issueFor('localhost', authority)
const server = createServer({ key, cert: certificate }, ({ url = '' }, response) => {
  const page = files.get(url)
  if (page === undefined) response.statusCode = 404
  if (url === '/simple/thing/') response.setHeader('content-type', 'text/html')
  response.end(page)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const url = `https://localhost:${port}`
files.set('/thing', Buffer.from(JSON.stringify(describeThing())))
/** A server that no rule names. */
const unnamed = `https://localhost:${port === 49_151 ? 49_150 : 49_151}`

after(async () => {
  await lazaret[Symbol.asyncDispose]()
  server.close()
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

/** One package for each installer, as its registry serves it. */
function packThing(): Map<string, Buffer> {
  execFileSync('python3', ['-c', writeWheel, join(folder, wheel)])
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name: 'thing', version: '1.0.0' }))
  writeFileSync(join(folder, 'package/index.js'), 'module.exports = "installed"')
  execFileSync('tar', ['-czf', 'thing-1.0.0.tgz', 'package'], { cwd: folder })
  return new Map([
    ['/simple/thing/', Buffer.from(`<!doctype html><a href="/${wheel}">${wheel}</a>`)],
    [`/${wheel}`, readFileSync(join(folder, wheel))],
    ['/thing-1.0.0.tgz', readFileSync(join(folder, 'thing-1.0.0.tgz'))],
  ])
}

function describeThing(): object {
  const tarball = files.get('/thing-1.0.0.tgz') ?? Buffer.alloc(0)
  const dist = {
    tarball: `${url}/thing-1.0.0.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
  }
  const version = { name: 'thing', version: '1.0.0', dist }
  return { name: 'thing', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
}

const trust =
  'export PIP_CERT=/workspace/ca.pem npm_config_cafile=/workspace/ca.pem REQUESTS_CA_BUNDLE=/workspace/ca.pem npm_config_fetch_retries=0 PIP_RETRIES=0'

/** Each program's command, and how to check that it is installed. */
const programs: Record<string, { readonly needs: string; readonly ask: (from: string) => string }> = {
  pip: {
    needs: 'python3 -m pip --version',
    ask: (from) =>
      `python3 -m pip -q install --disable-pip-version-check --target pips --index-url ${from}/simple/ thing && PYTHONPATH=pips python3 -c "import thing; print(thing.state)"`,
  },
  npm: {
    needs: 'npm --version',
    ask: (from) =>
      `npm install --no-audit --no-fund --registry ${from}/ thing >/dev/null && node -p 'require("thing")'`,
  },
  requests: {
    needs: 'python3 -c "import requests"',
    ask: (from) =>
      `python3 -c 'import requests; print("installed" if requests.get("${from}/thing").ok else "")'`,
  },
}

describe('with a network policy', { skip: obstacle }, () => {
  for (const [name, { needs, ask }] of Object.entries(programs))
    it(`${name} reaches a server that a rule names, and reports why others are refused`, async (context) => {
      await using sandbox = await lazaret.sandbox({
        network: { allow: [`localhost:${port}`] },
        files: { 'ca.pem': authority.certificate },
      })
      if ((await sandbox.exec(needs)).exitCode !== 0) return context.skip(`${name} is not installed`)
      const bad = await sandbox.exec(`${trust}; ${ask(unnamed)}`, { timeout: 60_000 })
      assert.deepEqual([bad.outcome.kind, bad.stdout], ['completed', ''])
      assert.notEqual(bad.exitCode, 0)
      assert.match(bad.stderr, /refused|ECONNREFUSED|No matching distribution/i)
      const good = await sandbox.exec(`${trust}; ${ask(url)}`)
      assert.equal(good.stdout, 'installed\n', good.stderr)
      return undefined
    })
})
