/** What environments refuse, and the messages. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { hintFor, LastLines } from '../../src/environments/installer.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { withoutNpm, withoutPip } from './packages.ts'
import { useEnvironments } from './use-environments.ts'

const { lazaret, folder, links } = await useEnvironments()
const { environments } = lazaret

test('an invalid name is refused', async () => {
  for (const name of ['', '../x', 'a/b', 'A', '.hidden', 'x'.repeat(65), 7, null, undefined]) {
    const refused = { code: 'INVALID_REQUEST' }
    await assert.rejects(environments.get(name as string), refused, String(name))
    await assert.rejects(environments.create(name as string, { python: ['six'] }), refused, String(name))
  }
})

test('a request is checked before anything is built', async () => {
  const wrong: Record<string, object> = {
    'names no package': {},
    'must be the name of a package': { npm: ['--registry=http://127.0.0.1'] },
    'must not be a path': { python: ['six @ file:///etc'] },
    'must begin with the name': { python: ['-r/etc/passwd'] },
    'is not a folder': { python: ['six'], findLinks: [join(folder, 'missing')] },
    'is not a file': { npmTarballs: [folder] },
    unknown: { python: ['six'], more: 1 },
  }
  for (const [detail, spec] of Object.entries(wrong))
    await assert.rejects(environments.create('x', spec), (error: Error) => {
      assert.match(error.message, new RegExp(detail, 'i'), JSON.stringify(spec))
      return true
    })
})

test('an unknown environment is refused in every request', async () => {
  const missing = { code: 'ENVIRONMENT_NOT_FOUND' }
  const run = { language: 'shell', code: ':', environment: 'nowhere' } as const
  await assert.rejects(lazaret.run(run), missing)
  await assert.rejects(lazaret.warmUp({ language: 'shell', environment: 'nowhere' }), missing)
  await assert.rejects(lazaret.sandbox({ environment: 'nowhere' }), missing)
  await assert.rejects(environments.remove('nowhere'), missing)
})

test('snippets and isolates import no packages', async () => {
  for (const runtime of ['snippet', 'isolate'] as const)
    await assert.rejects(lazaret.run({ language: 'javascript', runtime, code: '1', environment: 'x' }), {
      code: 'INVALID_REQUEST',
      message: /environment/,
    })
})

test('only the operator can allow a network, and the refusal says why and how', async (t) => {
  const { receipt } = await lazaret.run({ language: 'shell', code: ':' })
  if (receipt.protection === 'restricted')
    return assert.rejects(environments.create('x', { python: ['six'], findLinks: [links] }), {
      code: 'LIMIT_UNENFORCEABLE',
    })
  const former = process.env['npm_config_registry']
  process.env['npm_config_registry'] = 'http://10.0.0.1:9'
  t.after(() => {
    if (former === undefined) delete process.env['npm_config_registry']
    else process.env['npm_config_registry'] = former
  })
  for (const networks of [undefined, ['none'], ['none', 'policy']] as const) {
    const options = { environments: { folder: join(folder, 'store') }, onEvent: () => undefined }
    await using other = createLazaret({ ...options, ...(networks && { access: { networks } }) })
    await assert.rejects(other.environments.create('x', { npm: ['six'] }), {
      code: 'ACCESS_DENIED',
      message: /environment needs network "local-policy" to reach its package sources: 10\.0\.0\.1\/32:9, /,
      hint: new RegExp(`networks: \\[${networks?.[1] ? "'none', 'policy'" : "'none'"}, 'local-policy'\\]`),
    })
  }
  return undefined
})

test('nothing is built if guests have no own view of files', async () => {
  const { receipt } = await lazaret.run({ language: 'shell', code: ':' })
  const built = environments.create('x', { offline: true, findLinks: [links], python: ['no-such-package'] })
  const code = receipt.protection === 'restricted' ? 'LIMIT_UNENFORCEABLE' : 'ENVIRONMENT_FAILED'
  await assert.rejects(built, { code })
})

test('the error for a package that is not found offline says where offline builds look', async () => {
  const { receipt } = await lazaret.run({ language: 'shell', code: ':' })
  if (receipt.protection === 'restricted') return
  const refused = (spec: object, hint: RegExp) =>
    assert.rejects(environments.create('x', { offline: true, ...spec }), {
      code: 'ENVIRONMENT_FAILED',
      hint,
    })
  if (withoutPip === false) {
    await refused({ python: ['six'] }, /folders of wheels .* `--find-links`/)
    await refused({ python: ['six'], findLinks: [links] }, /name and version.* `--find-links`/)
  }
  if (withoutNpm === false) await refused({ npm: ['no-such-package'] }, /`--npm-tarball`.*`--npm-cache`/)
})

test('the hint names the sources if the installer did not reach one, and only then', () => {
  const unreached = [
    "WARNING: Retrying after connection broken by 'NewConnectionError: [Errno -2] Name or service not known'",
    'ERROR: No matching distribution found for six',
  ]
  assert.match(hintFor(unreached.join('\n')), /^Only the package sources can be reached/)
  assert.match(hintFor('npm error code EAI_AGAIN'), /^Only the package sources can be reached/)
  assert.equal(hintFor('ERROR: No matching distribution found for six'), 'Check name and version.')
  const conflict = 'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree'
  assert.equal(hintFor(conflict), 'The last lines of the installer say why.')
})

test('the last lines of an installer are complete', () => {
  const lines = new LastLines()
  const long = Array.from({ length: 30 }, (_, index) => `${index}: ${'words of one line '.repeat(20)}end`)
  for (const line of long) for (const piece of [line.slice(0, 100), line.slice(100), '\n']) lines.take(piece)
  assert.equal(lines.end(), long.slice(-5).join('\n'))
  const endless = new LastLines()
  for (let i = 0; i < 1000; i++) endless.take(i === 0 ? 'Error: ' : 'no end ')
  assert.match(endless.end(), /^Error: no end .{1900,2000}$/)
})

test('a folder that others can write to is not used', async () => {
  const open = join(folder, 'open')
  mkdirSync(join(open, 'names'), { recursive: true })
  writeFileSync(join(open, 'names/x.json'), '{}')
  chmodSync(open, 0o777)
  await using other = createLazaret({ environments: { folder: open }, onEvent: () => undefined })
  await assert.rejects(other.environments.get('x'), { code: 'INVALID_REQUEST', message: /others can write/ })
})

test('a damaged record is reported as such', async () => {
  const own = join(folder, 'damaged')
  mkdirSync(join(own, 'names'), { recursive: true })
  writeFileSync(join(own, 'names/x.json'), '{ "hash": "../../etc" }')
  await using other = createLazaret({ environments: { folder: own }, onEvent: () => undefined })
  await assert.rejects(other.environments.get('x'), { code: 'ENVIRONMENT_FAILED', message: /damaged/ })
})
