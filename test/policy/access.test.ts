import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
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

/** Requests beyond the access rules, and the words of each refusal. */
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

test('the refusal of a network says which setting would allow it', async () => {
  await using lazaret = createLazaret({ access: { networks: ['none', 'policy'] }, onEvent: () => undefined })
  await assert.rejects(lazaret.run({ language, code, network: { allow: ['localhost:80'] } }), {
    hint: "Leave it out. If you are the operator, allow it with the option `access: { networks: ['none', 'policy', 'local-policy'] }`.",
  })
})

test('an operator can say which environments requests may use', async () => {
  await using lazaret = createLazaret({ access: { environments: ['shared'] }, onEvent: () => undefined })
  const asks = (environment: string) => [
    lazaret.run({ language, code, environment }),
    lazaret.warmUp({ language, environment }),
    lazaret.sandbox({ environment }),
  ]
  for (const asked of asks('private')) await assert.rejects(asked, refusal(/"private".*access\.environments/))
  // The environment does not exist, so this error proves that the policy allowed the request.
  for (const asked of asks('shared')) await assert.rejects(asked, { code: 'ENVIRONMENT_NOT_FOUND' })
})

test('an unchecked request reaches nothing of the host, and is reported as refused', async () => {
  const ended: unknown[] = []
  await using lazaret = createLazaret({
    onEvent: (event) => event.type === 'work-ended' && ended.push([event.outcome, event.code]),
  })
  for (const [what, [ask, named]] of Object.entries(beyond)) {
    await assert.rejects(ask(lazaret), refusal(named), what)
    assert.deepEqual(ended.splice(0), [['refused', 'ACCESS_DENIED']], what)
  }
})

test('the operator allows what it names, and nothing else', async () => {
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

test('a request may set variables unless the operator forbids it', async () => {
  const env = { NAME: 'value' }
  const named = refusal(/env: "NAME".*access\.env/)
  await using open = createLazaret({ onEvent: () => undefined })
  assert.equal((await open.run({ language, code: 'echo $NAME', env })).stdout, 'value\n')
  await using closed = createLazaret({ access: { env: false }, onEvent: () => undefined })
  await assert.rejects(closed.run({ language, code, env }), named)
  await assert.rejects(closed.sandbox({ env }), named)
  assert.equal((await closed.run({ language, code, env: {} })).stdout, 'ran\n')
  await using sandbox = await closed.sandbox()
  await assert.rejects(sandbox.exec(code, { env }), named)
  assert.equal((await sandbox.exec(code)).stdout, 'ran\n')
  await assert.rejects(sandbox.setEnvVars(env), named)
  await assert.rejects(sandbox.createSession({ id: 'own', env }), named)
  await assert.rejects(sandbox.startProcess(code, { variables: env }), named)
  // What was refused has changed nothing.
  assert.equal(sandbox.getSession('own'), undefined)
  assert.equal((await sandbox.exec('echo "[$NAME]"')).stdout, '[]\n')
})

test('admit sees the variables of a command, whoever has set them', async () => {
  const seen: unknown[] = []
  const admit = (work: Work) => {
    if (work.kind === 'command') seen.push(work.variables)
    return true
  }
  await using lazaret = createLazaret({ admit, onEvent: () => undefined })
  await using sandbox = await lazaret.sandbox()
  const session = await sandbox.createSession({ env: { OF_SESSION: '1' } })
  await sandbox.setEnvVars({ OF_ALL: '2' })
  await session.exec(':', { variables: { OF_COMMAND: '3' } })
  await sandbox.exec(':')
  assert.deepEqual(seen, [['OF_ALL', 'OF_COMMAND', 'OF_SESSION'], ['OF_ALL']])
})

test('a folder is allowed with its contents, but not its siblings or targets of links', () => {
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
  const refusalOf = async (path: string) => {
    const asked = [{ workspace: path }, { readable: [{ host: path, guest: '/shown' }] }]
    const answers = await Promise.all(
      asked.map((options) => lazaret.sandbox(options).catch(({ message }: LazaretError) => message)),
    )
    return JSON.stringify(answers).replaceAll(path, 'PATH')
  }
  assert.equal(await refusalOf('/root'), await refusalOf('/no/such/folder'))
})

test('the operator’s own modules may be named, or none', () => {
  const preload = (...names: string[]) =>
    isAllowed(runWork({ language: 'python', preload: names }), { modules: ['json', 're'] })
  assert.deepEqual([preload(), preload('re'), preload('json', 'os')], [true, true, false])
})

test('the operator’s modules are those of the language that the request is in', () => {
  const modules = { python: ['json'], node: ['lodash'] }
  const allows = (own: string, name: string) =>
    isAllowed(runWork({ language: own, preload: [name] }), { modules })
  assert.deepEqual(
    [
      allows('python', 'json'),
      allows('typescript', 'lodash'),
      allows('javascript', 'json'),
      allows('python', 'lodash'),
    ],
    [true, true, false, false],
  )
})
