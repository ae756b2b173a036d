/** Callers' mistakes: each error names the mistake, and nothing is started. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'

import { useSandbox } from '../use-sandbox.ts'

const { lazaret, sandbox } = await useSandbox()

/** Untyped, like the calls of a JavaScript program. */
type Untyped = (...args: unknown[]) => unknown
const untyped = (target: object, name: string): Untyped => {
  const method = Reflect.get(target, name) as Untyped
  return (...args) => method.apply(target, args)
}

const things: readonly unknown[] = [null, 5, 'text', true, [], new Map([['A', 'b']]), () => undefined]
const noText = [null, 5, {}, true, ['a']]
const noTime = [null, '5', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, {}]
const noName = [null, 5, '', 'a b', '../x', 'é', 'x'.repeat(101), 'a\n']
const noFolder = [null, 5, '', 'relative', '~', '/nul\0', {}]
const noVariables = [
  ...things,
  { 'A-B': '' },
  { '': '' },
  { '1A': '' },
  { 'A B': '' },
  { 'A=': '' },
  { 'A\n': '' },
  { É: '' },
  { 'A-B': undefined },
  { A: 5 },
  { A: null },
  { A: 'nul\0' },
  { A: ['b'] },
]
const noSize = [
  ...things,
  {},
  { columns: 80 },
  { columns: 0, rows: 24 },
  { columns: 80.5, rows: 24 },
  { columns: 80, rows: 65_536 },
]

const ofCommands: Readonly<Record<string, readonly unknown[]>> = {
  env: noVariables,
  variables: [...noVariables, { UID: '0' }, { PWD: '/' }],
  cwd: noFolder,
  // null means no limit.
  timeout: noTime.filter((time) => time !== null),
  sessionId: noName,
  stdin: [null, 5, {}, ['a'], [1, 2]],
  signal: [null, 5, {}, { aborted: true }],
  onOutput: [null, 5, {}],
  home: [null, 5, '/tmp', true],
  tty: noSize,
  unknown: [1],
}
const ofSandboxes: Readonly<Record<string, readonly unknown[]>> = {
  id: noName,
  env: noVariables,
  files: [...things, { '../up': '' }, { '/root': '' }, { a: 5 }, { '': '' }],
  limits: [null, 5, 'text', [], { memoryBytes: 'much' }, { unknown: 1 }],
  network: [...things, 'some'],
  readable: [5, 'text', {}, [5], [{ host: 'relative', guest: '/x' }]],
  idleTimeoutMs: noTime,
  allowDegradedSecrets: [null, 5, 'true', {}],
  unknown: [1],
}
const ofSessions = { id: noName, env: noVariables, cwd: noFolder, unknown: [1] }

const calls: Readonly<Record<string, { readonly call: Untyped; readonly wrong: readonly unknown[][] }>> = {
  exec: {
    call: untyped(sandbox, 'exec'),
    wrong: [...commands(), ...things.map((thing) => ['true', thing]), ...options(['true'], ofCommands)],
  },
  startProcess: {
    call: untyped(sandbox, 'startProcess'),
    wrong: [
      ...commands(),
      ...things.map((thing) => ['true', thing]),
      ...options(['true'], { ...ofCommands, id: noName }),
    ],
  },
  createSession: {
    call: untyped(sandbox, 'createSession'),
    wrong: [...things.map((thing) => [thing]), ...options([], ofSessions)],
  },
  setEnvVars: { call: untyped(sandbox, 'setEnvVars'), wrong: noVariables.map((variables) => [variables]) },
  'Lazaret.sandbox': {
    call: untyped(lazaret, 'sandbox'),
    wrong: [...[null, 5, 'text', []].map((thing) => [thing]), ...options([], ofSandboxes)],
  },
}

for (const [name, { call, wrong }] of Object.entries(calls))
  test(`${name} refuses wrong arguments, and names them`, async () => {
    for (const args of wrong)
      await assert.rejects(
        async () => call(...args),
        { code: 'INVALID_REQUEST', kind: 'refusal', message: /\.$/ },
        show(args),
      )
  })

test('execStream refuses wrong arguments before its stream is read', () => {
  const call = untyped(sandbox, 'execStream')
  for (const args of calls['exec']?.wrong ?? [])
    assert.throws(() => call(...args), { code: 'INVALID_REQUEST' }, show(args))
})

test('a process refuses wrong arguments, and continues', async () => {
  const process = await sandbox.startProcess('exec sleep 60')
  const waits = things.map((thing) => ['x', thing])
  const wrong: Readonly<Record<string, readonly unknown[][]>> = {
    kill: [null, 5, 'KILL', 'SIGNOTHING', 'toString', {}].map((signal) => [signal]),
    waitForExit: [...things.map((thing) => [thing]), ...options([], { timeout: noTime, unknown: [1] })],
    waitForLog: [...[undefined, null, 5, {}].map((pattern) => [pattern]), ...waits],
    waitForPort: [undefined, null, '80', 0, 65_536, 1.5, Number.NaN].map((port) => [port]),
    write: [undefined, null, 5, {}, ['a']].map((input) => [input]),
    resize: [undefined, ...noSize].map((size) => [size]),
  }
  for (const [name, lists] of Object.entries(wrong))
    for (const args of lists)
      await assert.rejects(
        async () => untyped(process, name)(...args),
        { code: 'INVALID_REQUEST' },
        `${name} ${show(args)}`,
      )
  for (const thing of [...things, { signal: 5 }, { unknown: 1 }]) {
    await assert.rejects(
      async () => {
        for await (const _ of untyped(process, 'streamLogs')(thing) as AsyncIterable<unknown>);
      },
      { code: 'INVALID_REQUEST' },
      show([thing]),
    )
  }
  assert.equal(process.status, 'running')
  await sandbox.killProcess(process.id)
})

test('a text that is too long is refused', async () => {
  await assert.rejects(sandbox.exec(`: ${'x'.repeat(1024 * 1024)}`), {
    code: 'INVALID_REQUEST',
    message: /longer/,
  })
  const large = { code: 'INPUT_TOO_LARGE' }
  await assert.rejects(sandbox.exec('true', { env: { A: 'x'.repeat(200_000) } }), large)
  const many = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`A${index}`, 'x'.repeat(100_000)]))
  await assert.rejects(sandbox.setEnvVars(many), large)
  const small = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`A${index}`, 'x']))
  for (const env of [small, { ...many, ...small }])
    await assert.rejects(sandbox.exec('true', { env }), { ...large, message: /env/ })
})

test('an option for time or for a folder is explained as a sandbox means it', async () => {
  const create = untyped(lazaret, 'sandbox')
  const times = ['timeout', 'timeoutMs', 'wallMs'].map((key) => ({ [key]: 5 }))
  for (const wrong of [...times, { cpuMs: 5 }, { limits: { wallMs: 5 } }, { limits: { cpuMs: null } }])
    await assert.rejects(create(wrong) as Promise<unknown>, {
      code: 'INVALID_REQUEST',
      message: /write idleTimeoutMs for the sandbox, or `timeout` in exec\(\) and runCode\(\)\.$/,
    })
  await assert.rejects(create({ readable: ['/usr'] }) as Promise<unknown>, {
    message: /readable\[0\]: must be \{ host, guest \}/,
  })
})

test('nothing was started, set or created', async () => {
  assert.deepEqual(
    sandbox.listProcesses().filter(({ status }) => status === 'running'),
    [],
  )
  assert.deepEqual(lazaret.listSandboxes(), [sandbox])
  assert.equal((await sandbox.exec('env | grep -v "^ASAN_" | grep -c "^A"')).stdout, '0\n')
})

function commands(): unknown[][] {
  return [undefined, ...noText, 'nul\0', '', ' \n'].map((command) => [command])
}

/** Each wrong value of each option alone, after the other arguments. */
function options(
  before: readonly unknown[],
  wrong: Readonly<Record<string, readonly unknown[]>>,
): unknown[][] {
  return Object.entries(wrong).flatMap(([name, values]) =>
    values.map((value) => [...before, { [name]: value }]),
  )
}

function show(args: readonly unknown[]): string {
  return `arguments ${inspect(args)}`
}
