/** Packages that attack during installation: their code runs in a sandbox, and the test examines the result. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'

import { makeNpmTarball, makeSourceArchive } from './archives.ts'
import { withoutNpm, withoutPip } from './packages.ts'
import { useEnvironments } from './use-environments.ts'

const { lazaret, folder, store, offline } = await useEnvironments()
const { environments } = lazaret

/** The attacks during installation. Their findings are written into the package. */
function attack(port: number, host: string): string {
  return `
import json, os, socket, subprocess
found = {}
def attempt(name, work):
    try: found[name] = repr(work())[:200]
    except BaseException as error: found[name] = type(error).__name__
attempt('network', lambda: socket.create_connection(('127.0.0.1', ${port}), 2).getpeername())
attempt('read', lambda: open(${JSON.stringify(`${host}/secret`)}).read())
attempt('write', lambda: open(${JSON.stringify(`${host}/written`)}, 'w').write('x'))
attempt('uid', lambda: os.setuid(0) or os.getuid())
attempt('environment', lambda: os.environ.get('LAZARET_TEST_SECRET'))
attempt('processes', lambda: [pid for pid in os.listdir('/proc') if pid == '${process.pid}'])
attempt('mount', lambda: subprocess.run(['mount', '-t', 'tmpfs', 'none', '/mnt'], check=True))
`
}

test(
  'a build script finds no network, no file and no process of the host',
  { skip: withoutPip },
  async (t) => {
    const host = join(folder, 'host')
    mkdirSync(host)
    writeFileSync(join(host, 'secret'), 'marker-7f3a')
    process.env['LAZARET_TEST_SECRET'] = 'marker-9c1d'
    let visits = 0
    const server = createServer((_request, response) => {
      visits++
      response.end()
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
    t.after(() => {
      server.close()
      delete process.env['LAZARET_TEST_SECRET']
    })
    const { port } = server.address() as { port: number }
    const links = join(folder, 'evil-links')
    const backend = `${attack(port, host)}\nmodule = 'found = ' + repr(found)\n`
    await makeSourceArchive(links, { name: 'evil', version: '1.0' }, backend)
    await environments.create('evil', { ...offline, findLinks: [links], python: ['evil'] })
    assert.deepEqual([visits, existsSync(join(host, 'written'))], [0, false])
    const { value } = await lazaret.run({
      language: 'python',
      environment: 'evil',
      code: 'import evil\nevil.found',
    })
    const found = value as Record<string, string>
    assert.ok(!JSON.stringify(found).includes('marker'), JSON.stringify(found))
    assert.notEqual(found['uid'], '0')
    assert.equal(found['processes'], '[]')
    assert.equal(found['environment'], 'None')
  },
)

test(
  'install scripts of npm run only where they are allowed, and then without a network',
  { skip: withoutNpm },
  async (t) => {
    let visits = 0
    const server = createServer((_request, response) => {
      visits++
      response.end()
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
    t.after(() => server.close())
    const { port } = server.address() as { port: number }
    const script = `node -e "require('fs').writeFileSync('ran.txt', String(process.env.LAZARET_TEST_SECRET)); require('http').get('http://127.0.0.1:${port}').on('error', () => {})"`
    const tarball = await makeNpmTarball(
      join(folder, 'evil-tarballs'),
      { name: 'installs', version: '1.0.0' },
      {
        files: { 'index.js': 'module.exports = 1\n' },
        manifest: { scripts: { install: script } },
      },
    )
    const asked = { offline: true, npmTarballs: [tarball] } as const
    const quiet = await environments.create('quiet', asked)
    const places = (hash: string) =>
      readdirSync(join(store, 'objects', hash, 'node_modules/installs')).toSorted()
    assert.deepEqual(places(quiet.hash), ['index.js', 'package.json'])
    const loud = await environments.create('loud', { ...asked, allowScripts: ['installs'] })
    assert.deepEqual(places(loud.hash), ['index.js', 'package.json', 'ran.txt'])
    const ran = join(store, 'objects', loud.hash, 'node_modules/installs/ran.txt')
    assert.deepEqual([visits, readFileSync(ran, 'utf8')], [0, 'undefined'])
  },
)

test('links and special files that a script leaves are not copied out', { skip: withoutNpm }, async () => {
  const script = 'ln -s /etc/passwd stolen; mkfifo pipe; chmod u+s index.js; touch kept'
  const tarball = await makeNpmTarball(
    join(folder, 'link-tarballs'),
    { name: 'links', version: '1.0.0' },
    {
      files: { 'index.js': 'module.exports = 1\n' },
      manifest: { scripts: { install: script } },
    },
  )
  const asked = { offline: true, npmTarballs: [tarball], allowScripts: ['links'] }
  await assert.rejects(environments.create('links', asked), {
    code: 'ENVIRONMENT_FAILED',
    message: /entries are not files or folders/,
  })
  await assert.rejects(environments.get('links'), { code: 'ENVIRONMENT_NOT_FOUND' })
})

test(
  'output of installers cannot forge a line or a colour of the terminal, and is bounded',
  { skip: withoutNpm },
  async () => {
    const script = `node -e "process.stderr.write('x'.repeat(9000) + '\\n\\u001b[31mred\\n'); process.exit(1)"`
    const tarball = await makeNpmTarball(
      join(folder, 'loud-tarballs'),
      { name: 'shouts', version: '1.0.0' },
      {
        files: { 'index.js': '' },
        manifest: { scripts: { install: script } },
      },
    )
    const failure: unknown = await environments
      .create('shouts', { offline: true, npmTarballs: [tarball], allowScripts: ['shouts'] })
      .catch((error: unknown) => error)
    assert.ok(failure instanceof Error && failure.message.length < 4000, String(failure).slice(0, 200))
    assert.match(failure.message, /red/)
    assert.ok(!/\p{Cc}/u.test(failure.message.replaceAll('\n', '')))
  },
)
