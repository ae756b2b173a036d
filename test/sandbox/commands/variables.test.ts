/** Plain variables of one command or process: only it has them, and nothing after it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { ExecOptions } from '../../../src/index.ts'
import { untilShown } from '../../support/patient-run.ts'
import { useSandbox } from '../use-sandbox.ts'

const { sandbox, hasSecure } = await useSandbox({ env: { OWN: 'session' } })
const values = { OWN: "it's", NEW: 'two\nlines $(x)', EMPTY: '', PATH: '/bin:/usr/bin' }
const show = 'printf "%s|" "$OWN" "$NEW" "${EMPTY-unset}" "$PATH"'
const shown = `it's|two\nlines $(x)||/bin:/usr/bin|`
const sessionVariables = `session||unset|${(await sandbox.exec('printf %s "$PATH"')).stdout}|`

/** Ways in which a command might make them persist. */
const ways: Readonly<Record<string, string>> = {
  nothing: ':',
  'exports them': 'export OWN=2 NEW=3 EMPTY PATH',
  'makes them read-only': 'declare -rx OWN=2 NEW',
  'takes them away': 'unset OWN NEW EMPTY',
  'makes a list of one': 'unset NEW; declare -ax NEW=(a "b\nc")',
  'traps its end': `trap 'test "$OWN" = "it\\'s"' EXIT`,
  'ends by itself': 'exit 3',
  'becomes another program': 'exec true',
  'does not parse': 'if',
}
for (const [what, command] of Object.entries(ways))
  test(`the session keeps its variables if a command does this with its own: ${what}`, async () => {
    const session = await sandbox.createSession()
    await session.exec('export STAYS=1')
    assert.equal((await session.exec(`${show}\n${command}`, { variables: values })).stdout, shown)
    assert.equal((await session.exec(show)).stdout, sessionVariables)
    assert.equal((await session.exec('export LATER=2; echo $STAYS')).stdout, '1\n')
    assert.equal((await session.exec('echo $LATER')).stdout, '2\n')
  })

test('other changes of a command are kept, and variables that setEnvVars() set in the meantime', async () => {
  const session = await sandbox.createSession()
  await session.exec('export LIST_OF=one; declare -rx FIXED=1')
  await sandbox.setEnvVars({ SHARED: 'all' })
  const variables = { SHARED: 'mine', LIST_OF: 'two' }
  const { stdout } = await session.exec('echo $SHARED $LIST_OF $FIXED; cd /tmp; export MORE=3', { variables })
  assert.equal(stdout, 'mine two 1\n')
  assert.equal((await session.exec('echo $SHARED $LIST_OF $FIXED $MORE $PWD')).stdout, 'all one 1 3 /tmp\n')
})

test('a timeout or a missing folder leaves none behind', async () => {
  const session = await sandbox.createSession()
  const { seen: late } = await untilShown(
    (timeout) => session.exec(`${show}; sleep 60`, { variables: values, timeout }),
    ({ seen }) => seen.stdout === shown,
  )
  assert.deepEqual([late.outcome.kind, late.stdout], ['timed-out', shown])
  assert.equal((await session.exec('pwd', { variables: values, cwd: '/nowhere' })).exitCode, 1)
  assert.equal((await session.exec(show)).stdout, sessionVariables)
})

test('streams, processes and terminals have them, too', async () => {
  let streamed = ''
  for await (const event of sandbox.execStream(show, { variables: values }))
    if (event.type === 'stdout') streamed += event.text
  assert.equal(streamed, shown)
  const process = await sandbox.startProcess(`${show}; echo`, { variables: values })
  await process.waitForExit()
  assert.equal(process.getLogs().stdout, `${shown}\n`)
  const terminal = await sandbox.exec('echo "$OWN $TERM"', {
    variables: { OWN: 'typed', TERM: 'vt100' },
    tty: { columns: 80, rows: 24 },
  })
  assert.match(terminal.stdout, /typed vt100/)
  assert.equal((await sandbox.exec(show)).stdout, sessionVariables)
})

test('a command with credentials has both kinds, without common names', { skip: !hasSecure }, async () => {
  const both: ExecOptions = { env: { TOKEN: 't0ken' }, variables: { NEW: 'plain' } }
  const { stdout, isolation } = await sandbox.exec('echo $TOKEN $NEW ${OWN-unset}', both)
  assert.deepEqual([stdout, isolation.space], ['t0ken plain unset\n', 'secure'])
  await assert.rejects(sandbox.exec(':', { ...both, env: { NEW: 'secret' } }), {
    code: 'INVALID_REQUEST',
    message: /variables\.NEW: is in env too/,
  })
})

test('variables without a value are left out, and too long ones are refused', async () => {
  const { stdout } = await sandbox.exec('echo $OWN', { variables: { OWN: undefined } })
  assert.equal(stdout, 'session\n')
  const variables = { LONG: 'x'.repeat(128 * 1024) }
  await assert.rejects(sandbox.exec(':', { variables }), {
    code: 'INPUT_TOO_LARGE',
    message: /variables\.LONG/,
  })
})
