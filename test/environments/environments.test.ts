/** Environments from local files: created, used by every kind of guest, replaced, locked and removed. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import { makeWheel } from './archives.ts'
import { greeting, pricing, withoutNpm, withoutPip } from './packages.ts'
import { useEnvironments } from './use-environments.ts'

const { lazaret, store, links, tarball, offline } = await useEnvironments()
const { environments } = lazaret
const skip = withoutPip || withoutNpm

test(
  'packages of pip and npm are installed, and every guest that names them finds them',
  { skip },
  async () => {
    const steps: string[] = []
    const made = await environments.create(
      'shop',
      { ...offline, python: ['pricing'], npmTarballs: [tarball] },
      { onProgress: ({ step, line }) => void (line ?? steps.push(step)) },
    )
    assert.deepEqual([made.python, made.npm], [[pricing], [greeting]])
    assert.match(made.lock.python ?? '', /^pricing==1\.2\.0 --hash=sha256:[0-9a-f]{64}\n$/)
    const pythonSteps = ['fetch-python', 'take-out', 'install-python', 'compile', 'take-out']
    assert.deepEqual(steps, [...pythonSteps, 'install-npm', 'compile', 'take-out'])
    assert.deepEqual(await environments.get('shop'), made)

    const common = { environment: 'shop', collect: [] }
    const priced = { ...common, language: 'python', code: 'import pricing\npricing.net(100)' } as const
    for (let turn = 0; turn < 3; turn++) assert.equal((await lazaret.run(priced)).value, 80)
    const code = "import greet from 'greeting'\ngreet('Ada')"
    for (const runtime of ['bun', 'node'] as const) {
      const { value, stderr } = await lazaret.run({ ...common, language: 'typescript', runtime, code })
      assert.equal(value, 'Hello, Ada', `${runtime}: ${stderr}`)
    }
    const commands = 'net-price; greet Bob; python3 -c "import pricing; print(pricing.net(5))"'
    const { stdout } = await lazaret.run({ ...common, language: 'shell', code: commands })
    assert.match(stdout, /^net 8\.0\n/)
    await using sandbox = await lazaret.sandbox({ environment: 'shop' })
    assert.equal((await sandbox.exec(commands)).stdout, 'net 8.0\nHello, Bob\n4.0\n')
    assert.equal((await sandbox.runCode('import pricing; pricing.net(50)')).value, 40)
  },
)

test('are not found without the name', { skip }, async () => {
  const { outcome } = await lazaret.run({ language: 'python', code: 'import pricing' })
  assert.equal(outcome.kind, 'failed')
})

test('guests cannot change them', { skip }, async () => {
  const code = `
import pricing, errno
try: open(pricing.__file__, 'a')
except OSError as error: found = errno.errorcode[error.errno]
found`
  const { value } = await lazaret.run({ language: 'python', environment: 'shop', code })
  assert.ok(['EROFS', 'EACCES'].includes(String(value)), String(value))
})

test('the same packages have the same hash, and a lock gives the same again', { skip }, async () => {
  const { hash, lock } = await environments.get('shop')
  const again = await environments.create('again', {
    ...offline,
    python: ['pricing==1.*'],
    npmTarballs: [tarball],
  })
  assert.equal(again.hash, hash)
  const { python = '' } = lock
  const locked = await environments.create('locked', { ...offline, lock: { python } })
  assert.deepEqual(locked.python, [pricing])
  const wrong = python.replace(/sha256:./, (start) => `sha256:${start.endsWith('0') ? '1' : '0'}`)
  await assert.rejects(environments.create('wrong', { ...offline, lock: { python: wrong } }), {
    code: 'ENVIRONMENT_FAILED',
    hint: /not what the lock says/,
  })
  await assert.rejects(environments.get('wrong'), { code: 'ENVIRONMENT_NOT_FOUND' })
  await Promise.all(['again', 'locked'].map((name) => environments.remove(name)))
})

test(
  'a name is reused only on request, and its former environment can then be removed',
  { skip },
  async () => {
    makeWheel(links, { name: 'tariff', version: '1.0' }, { files: { 'tariff.py': 'rate = 1\n' } })
    const first = await environments.create('rates', { ...offline, python: ['tariff'] })
    makeWheel(links, { name: 'tariff', version: '2.0' }, { files: { 'tariff.py': 'rate = 2\n' } })
    await assert.rejects(environments.create('rates', { ...offline, python: ['tariff'] }), {
      code: 'ENVIRONMENT_EXISTS',
    })
    const second = await environments.create('rates', first.spec, { replace: true })
    assert.deepEqual([first.python[0]?.version, second.python[0]?.version], ['1.0', '2.0'])
    const { value } = await lazaret.run({
      language: 'python',
      environment: 'rates',
      code: 'import tariff\ntariff.rate',
    })
    assert.equal(value, 2)
    assert.deepEqual(await environments.prune(), [first.hash])
    assert.deepEqual(
      (await environments.list()).map(({ name }) => name),
      ['rates', 'shop'],
    )
  },
)

test('an environment in use is not removed', { skip }, async () => {
  const other = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  try {
    await assert.rejects(other.environments.remove('rates'), {
      code: 'ENVIRONMENT_IN_USE',
      hint: /Close every Lazaret that has used it/,
    })
  } finally {
    await other[Symbol.asyncDispose]()
  }
  assert.equal((await environments.get('rates')).name, 'rates')
})

test(
  'a build that fails or is cancelled changes no name and leaves nothing',
  { skip: withoutPip },
  async () => {
    const before = readdirSync(join(store, 'objects'))
    await assert.rejects(environments.create('none', { ...offline, python: ['no-such-package-here'] }), {
      code: 'ENVIRONMENT_FAILED',
      message: /No matching distribution/,
    })
    const cancelled = new AbortController()
    const onProgress = () => cancelled.abort()
    const { signal } = cancelled
    const asked = { ...offline, python: ['pricing'] }
    await assert.rejects(environments.create('none', asked, { signal, onProgress }), { name: 'AbortError' })
    assert.deepEqual(
      [readdirSync(join(store, 'objects')), readdirSync(join(store, 'building'))],
      [before, []],
    )
  },
)
