import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createLazaret } from '../../src/index.ts'
import type { ErrorCode, Lazaret, LazaretError, LazaretOptions, Work } from '../../src/index.ts'
import { requireAccess } from '../../src/policy/access.ts'
import type { AccessRules } from '../../src/policy/access.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-access-'))
chmodSync(folder, 0o755)
mkdirSync(join(folder, 'given/deep'), { recursive: true })
mkdirSync(join(folder, 'given-not'))
symlinkSync(join(folder, 'given-not'), join(folder, 'given/out'))
after(() => rmSync(folder, { recursive: true }))

const language = 'shell'
const code = 'echo ran'
const host = { network: 'host' } as const

/** What each request is refused with, and which words the refusal has. */
const beyond: Readonly<Record<string, [(by: Lazaret) => Promise<unknown>, RegExp]>> = {
  'a run on the host’s network': [(by) => by.run({ language, code, ...host }), /access\.networks/],
  'a run with modules ahead': [
    (by) => by.run({ language: 'python', code: '1', preload: ['json'] }),
    /"json".*access\.preload/,
  ],
  'workers on the host’s network': [(by) => by.warmUp({ language, ...host }), /access\.networks/],
  'workers with modules': [
    (by) => by.warmUp({ language: 'python', preload: ['json'] }),
    /"json".*access\.preload/,
  ],
  'a sandbox on the host’s network': [(by) => by.sandbox(host), /access\.networks/],
  'a sandbox with a folder of the host’s': [
    (by) => by.sandbox({ workspace: join(folder, 'given') }),
    /access\.workspaces/,
  ],
  'a sandbox that reads one': [
    (by) => by.sandbox({ readable: [{ host: '/usr/share', guest: '/shown' }] }),
    /access\.readable/,
  ],
}

const refusal = (named: RegExp) => (error: LazaretError) => {
  assert.equal(error.code, 'ACCESS_DENIED' satisfies ErrorCode)
  assert.equal(error.kind, 'refusal')
  assert.match(error.message, named)
  return true
}

test('a request that is passed on unread reaches nothing of the host, and is told of as refused', async () => {
  const ended: unknown[] = []
  await using lazaret = createLazaret({
    onEvent: (event) => ended.push(event.type === 'work-ended' && [event.outcome, event.code]),
  })
  for (const [what, [ask, named]] of Object.entries(beyond)) {
    await assert.rejects(ask(lazaret), refusal(named), what)
    assert.deepEqual(ended.splice(0), [['refused', 'ACCESS_DENIED']], what)
  }
})

test('what the operator names is had, and nothing else', async () => {
  const access: LazaretOptions['access'] = { networks: ['host'], preload: true, readable: ['/usr'] }
  await using lazaret = createLazaret({ access, pools: { python: { max: 0 } } })
  assert.equal((await lazaret.run({ language, code, ...host })).stdout, 'ran\n')
  await lazaret.run({ language: 'python', code: '1', preload: ['json'], ...host })
  await assert.rejects(lazaret.run({ language, code }), refusal(/"none".*access\.networks/))
  await assert.rejects(
    lazaret.sandbox({ ...host, readable: [{ host: '/var', guest: '/shown' }] }),
    refusal(/"\/var".*access\.readable/),
  )
})

const sandboxWork = (asked: object) =>
  ({ kind: 'sandbox', id: 'x', limits: {}, network: 'none', ...asked }) as unknown as Work
const runWork = (spec: object) => ({ kind: 'run', id: 'x', limits: {}, spec }) as unknown as Work
const isAllowed = (work: Work, rules: AccessRules): boolean => {
  try {
    requireAccess(work, rules)
    return true
  } catch {
    return false
  }
}

test('a folder is allowed with what is in it: not one beside it, not by a link out of it', () => {
  const rules = { workspaces: [join(folder, 'given')] }
  const workspace = (name: string) => isAllowed(sandboxWork({ workspace: join(folder, name) }), rules)
  const answers = ['given', 'given/deep', 'given-not', 'given/out', 'given/none', '.'].map(workspace)
  assert.deepEqual(answers, [true, true, false, false, true, false])
  const readable = sandboxWork({ readable: [join(folder, 'given')] })
  assert.deepEqual(
    [rules, { readable: ['/'] }, { readable: ['/no/such'] }, {}].map((some) => isAllowed(readable, some)),
    [false, true, false, false],
  )
})

test('nobody learns which folders the host has', async () => {
  await using lazaret = createLazaret({ onEvent: () => undefined })
  const told = async (path: string) => {
    const asked = [{ workspace: path }, { readable: [{ host: path, guest: '/shown' }] }]
    const answers = await Promise.all(
      asked.map((options) => lazaret.sandbox(options).catch(({ message }: LazaretError) => message)),
    )
    return JSON.stringify(answers).replaceAll(path, 'PATH')
  }
  assert.equal(await told('/root'), await told('/no/such/folder'))
})

test('the operator’s own modules may be named, and none at all', () => {
  const preload = (...names: string[]) => isAllowed(runWork({ preload: names }), { modules: ['json', 're'] })
  assert.deepEqual([preload(), preload('re'), preload('json', 'os')], [true, true, false])
})
