/** Concurrent sessions, their order, their ends, and what secure commands see of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { SandboxSession } from '../../../src/index.ts'
import { processesWith } from '../../support/guests/processes-with.ts'
import { useSandbox } from '../use-sandbox.ts'

const { sandbox, hasSecure } = await useSandbox()
const withoutSecure = !hasSecure && 'secure commands are refused here'

test('state of a session is not visible in others; files and processes are shared', async () => {
  const one = await sandbox.createSession()
  const other = await sandbox.createSession()
  await one.exec('cd /tmp; export A=1; f() { :; }; alias b=c; set -u; sleep 62.5 & echo shared > /tmp/shared')
  const { stdout } = await other.exec(
    'pwd; echo "[${A-}]"; type -t f b; set -o | grep nounset; cat /tmp/shared',
  )
  assert.equal(stdout, '/workspace\n[]\nnounset        \toff\nshared\n')
  assert.equal((await other.exec(`kill $(${processesWith('62[.]5')} | cut -d/ -f3)`)).exitCode, 0)
  assert.equal((await sandbox.exec('pwd')).stdout, '/workspace\n')
})

test('a session begins in its folder with its variables, which override those of the sandbox', async () => {
  await sandbox.setEnvVars({ A: 'sandbox', B: 'sandbox' })
  const session = await sandbox.createSession({ id: 'named', cwd: '/usr', env: { A: 'own', C: undefined } })
  assert.equal(session.id, 'named')
  assert.equal(session.cwd, '/usr')
  assert.equal((await session.exec('pwd; echo $A $B ${C-unset}')).stdout, '/usr\nown sandbox unset\n')
  await sandbox.setEnvVars({ A: undefined, B: undefined })
})

test('a session is found by its name, again and again', async () => {
  const { id } = await sandbox.createSession()
  await sandbox.getSession(id)?.exec('cd /tmp')
  assert.equal(sandbox.getSession(id)?.cwd, '/tmp')
  assert.equal((await sandbox.exec('pwd', { sessionId: id })).stdout, '/tmp\n')
  assert.equal(sandbox.getSession('nobody'), undefined)
  await assert.rejects(sandbox.createSession({ id }), {
    code: 'INVALID_REQUEST',
    message: /id: a session ".+" already exists\./,
  })
})

test('`cwd` of a command does not change the session’s folder', async () => {
  const session = await sandbox.createSession()
  await session.exec('cd /tmp')
  assert.equal((await session.exec('cd usr; pwd; export A=1', { cwd: '/' })).stdout, '/usr\n')
  assert.equal((await session.exec('pwd; echo $A; cd -')).stdout, '/tmp\n1\n/workspace\n')
})

test('commands of one session run one after the other, in the order of their calls', async () => {
  const session = await sandbox.createSession()
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  const runs = numbers.map((number) =>
    session.exec(`N="$N ${number}"; export N; sleep 0.00${number % 3}; echo $N`),
  )
  const results = await Promise.all(runs)
  assert.deepEqual(
    results.map(({ stdout }) => stdout.trim()),
    numbers.map((number) => numbers.slice(0, number + 1).join(' ')),
  )
})

test('a queued command that is aborted never begins, and no other waits for it', async () => {
  const session = await sandbox.createSession()
  const first = session.exec('until [ -e /tmp/aborted ]; do sleep 0.01; done; echo first')
  const abort = new AbortController()
  const second = session.exec('echo second > /tmp/second', { signal: abort.signal })
  const third = session.exec('cat /tmp/second 2>/dev/null; echo third')
  abort.abort()
  assert.deepEqual((await second).outcome, { kind: 'cancelled' })
  await sandbox.exec('touch /tmp/aborted')
  assert.equal((await first).stdout, 'first\n')
  assert.equal((await third).stdout, 'third\n')
})

test('commands of different sessions run concurrently', async () => {
  const one = await sandbox.createSession()
  const other = await sandbox.createSession()
  // Each waits for the other.
  const meet = (mine: string, theirs: string) =>
    `touch /tmp/${mine}; until [ -e /tmp/${theirs} ]; do sleep 0.01; done; echo met`
  const met = await Promise.all([one.exec(meet('one', 'other')), other.exec(meet('other', 'one'))])
  assert.deepEqual(
    met.map(({ stdout }) => stdout),
    ['met\n', 'met\n'],
  )
})

for (const [signal, exitCode] of [
  ['KILL', 137],
  ['TERM', 143],
  ['SEGV', 139],
] as const)
  test(`a session whose shell was killed by SIG${signal} reports that once, and then has a new shell`, async () => {
    const session = await sandbox.createSession({ cwd: '/usr', env: { A: 'own' } })
    await session.exec('cd /tmp; export A=changed B=1; f() { :; }; set -u')
    await assert.rejects(session.exec(`kill -${signal} $$; echo lived`), {
      code: 'SESSION_TERMINATED',
      message: new RegExp(`exit code ${exitCode}`),
    })
    const { stdout } = await session.exec('pwd; echo $A "[$B]"; type -t f')
    assert.equal(stdout, '/usr\nown []\n')
  })

test('other sessions survive when one session’s shell is killed', async () => {
  const other = await sandbox.createSession()
  await other.exec('export A=1')
  const long = other.exec('sleep 0.1; echo $A')
  await assert.rejects(sandbox.exec('export A=2; kill -9 $$'), { code: 'SESSION_TERMINATED' })
  assert.equal((await long).stdout, '1\n')
  assert.equal((await sandbox.exec('echo "[$A]"')).stdout, '[]\n')
})

test('a command that kills everything that it can reach ends only the shells of its own space', async () => {
  const session = await sandbox.createSession()
  await session.exec('export A=1')
  await session.exec('kill -9 -1')
  for (let round = 0; round < 3; round++) {
    const { stdout } = await session.exec('echo $A')
    assert.equal(stdout, '1\n')
  }
})

test('a command that timed out does not change the session', async () => {
  const session = await sandbox.createSession()
  await session.exec('cd /tmp; export A=1')
  await session.exec('cd /usr; export A=2; sleep 60', { timeout: 100 })
  assert.equal((await session.exec('pwd; echo $A')).stdout, '/tmp\n1\n')
})

test('a deleted session is gone, also for queued commands; running commands continue', async () => {
  const session = await sandbox.createSession()
  await session.exec(':')
  const printed = Promise.withResolvers<void>()
  const running = session.exec('echo begun; sleep 0.05; echo ended', { onOutput: () => printed.resolve() })
  const waiting = session.exec('echo never')
  await printed.promise
  assert.equal(await sandbox.deleteSession(session.id), true)
  assert.equal(await sandbox.deleteSession(session.id), false)
  await assert.rejects(waiting, { code: 'SESSION_GONE' })
  assert.equal((await running).stdout, 'begun\nended\n')
  await assert.rejects(session.exec('true'), { code: 'SESSION_GONE' })
  assert.equal(sandbox.getSession(session.id), undefined)
})

test('the default session cannot be deleted', async () => {
  assert.equal(await sandbox.deleteSession('default'), false)
  assert.equal((await sandbox.exec('echo here', { sessionId: 'default' })).stdout, 'here\n')
})

test('a sandbox has 64 sessions at most', async () => {
  const made: SandboxSession[] = []
  await assert.rejects(
    async () => {
      for (;;) made.push(await sandbox.createSession())
    },
    { code: 'QUEUE_FULL' },
  )
  for (const { id } of made) await sandbox.deleteSession(id)
  assert.ok(made.length > 32)
})

test(
  'a secure command begins in its session’s folder, and leaves the session untouched',
  { skip: withoutSecure },
  async () => {
    const session = await sandbox.createSession({ env: { OWN: '1' } })
    await session.exec('cd /tmp; export A=1; f() { :; }')
    const env = { TOKEN: 't' }
    const { stdout } = await session.exec(
      'pwd; echo "[$OWN$A]"; type -t f; cd /usr; export A=2; kill -9 $$',
      { env },
    )
    assert.equal(stdout, '/tmp\n[]\n')
    assert.equal((await session.exec('pwd; echo $A $OWN "[$TOKEN]"')).stdout, '/tmp\n1 1 []\n')
  },
)
