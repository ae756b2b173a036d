/** The result of `exec()`, and the ways to end a command early. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { guestHome } from '../../../src/jail/plan/place.ts'
import { untilShown } from '../../support/patient-run.ts'
import { useSandbox, waysToRun } from '../use-sandbox.ts'

const use = await useSandbox()
const { everyWay, ways } = await waysToRun(use)
const { sandbox, hasSecure } = use
const withoutSecure = !hasSecure && 'secure commands are refused here'

test('a result contains the command, its end, its duration and its isolation', async () => {
  const before = Date.now()
  const result = await sandbox.exec('echo hi')
  const { id, receipt, duration, timestamp, isolation, usage, ...rest } = result
  assert.deepEqual(rest, {
    success: true,
    exitCode: 0,
    stdout: 'hi\n',
    stderr: '',
    command: 'echo hi',
    outcome: { kind: 'completed', exitCode: 0 },
    truncated: [],
    touched: [],
  })
  assert.ok(duration > 0)
  assert.deepEqual([usage.wallMs, usage.outputBytes], [duration, 3])
  assert.ok(Date.parse(timestamp) >= before)
  assert.ok(id !== '')
  assert.equal(receipt.runtime, 'shell')
  assert.equal(isolation.space, 'user')
  assert.equal(isolation.network, 'none')
  assert.equal(isolation.note, undefined)
})

/** Processes that are hard to end: in the background, orphaned, in their own session, ignoring signals. */
const stubborn = `trap '' TERM HUP INT; (setsid sh -c '(trap "" TERM; sleep 60.125 & echo begun; sleep 60.125) &' &); sleep 60.125`
const sleepers = `ls -d /proc/[0-9]* | while read p; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null | grep -c '^sleep 60[.]125'`

test('a timeout ends a command with everything that it has started, and the next one runs at once', async () => {
  for (const { name, exec } of ways) {
    const { seen, deadlineMs } = await untilShown(
      (timeout) => exec(stubborn, { timeout }),
      (one) => one.seen.stdout === 'begun\n',
    )
    const { exitCode, outcome, success } = seen
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: deadlineMs }, name)
    assert.equal(exitCode, 124, name)
    assert.equal(success, false, name)
    assert.equal((await exec('echo next')).stdout, 'next\n', name)
    assert.equal((await sandbox.exec(sleepers)).stdout, '0\n', name)
  }
})

test('output from before a timeout is kept', async () => {
  await everyWay(async ({ name, exec }) => {
    const { seen } = await untilShown(
      (timeout) => exec('echo out; echo err >&2; sleep 60', { timeout }),
      (one) => one.seen.stderr !== '',
    )
    assert.deepEqual([seen.stdout, seen.stderr, seen.exitCode], ['out\n', 'err\n', 124], name)
  })
})

test('a timeout of one command does not end processes of others', async () => {
  await sandbox.exec('sleep 61.5 & echo $! > /tmp/other')
  const lasting = await sandbox.startProcess('exec sleep 61.5')
  await everyWay(async ({ exec }) => {
    await exec('sleep 60', { timeout: 100 })
    assert.equal((await sandbox.exec('kill -0 $(cat /tmp/other)')).exitCode, 0)
    assert.equal(lasting.status, 'running')
  })
  await sandbox.exec('kill $(cat /tmp/other)')
  await sandbox.killProcess(lasting.id)
})

test('a background process continues after its command has ended', async () => {
  await sandbox.exec('(while sleep 0.01; do [ -e /tmp/end ] && echo done > /tmp/ended && exit; done) &')
  const { stdout } = await sandbox.exec(
    'touch /tmp/end; until [ -e /tmp/ended ]; do sleep 0.01; done; cat /tmp/ended',
  )
  assert.equal(stdout, 'done\n')
})

test('aborting ends a command as cancelled', async () => {
  for (const { name, exec } of ways) {
    const abort = new AbortController()
    const onOutput = () => abort.abort()
    const { outcome, exitCode } = await exec('echo begun; sleep 60 & sleep 60', {
      signal: abort.signal,
      onOutput,
    })
    assert.deepEqual(outcome, { kind: 'cancelled' }, name)
    assert.equal(exitCode, 130, name)
  }
})

test('a command that was aborted before it began does not begin', async () => {
  for (const { name, exec } of ways) {
    const { outcome } = await exec('touch /workspace/begun', { signal: AbortSignal.abort() })
    assert.deepEqual(outcome, { kind: 'cancelled' }, name)
  }
  assert.equal((await sandbox.exec('test -e begun')).exitCode, 1)
})

test('onOutput gets the output at once, and can slow the command down', async () => {
  for (const { name, exec } of ways) {
    const pieces: string[] = []
    const { stdout } = await exec('for i in 1 2 3; do echo $i; sleep 0.01; done; echo e >&2', {
      onOutput: async ({ stream, text }) => {
        await Promise.resolve()
        pieces.push(`${stream} ${text}`)
      },
    })
    assert.equal(stdout, '1\n2\n3\n', name)
    assert.equal(pieces[0], 'stdout 1\n', name)
    assert.equal(pieces.at(-1), 'stderr e\n', name)
  }
})

test('exec rejects with the error of onOutput, and the command is ended', async () => {
  for (const { exec } of ways) {
    const onOutput = () => {
      throw new Error('enough')
    }
    await assert.rejects(exec('echo x; sleep 60', { onOutput }), { message: 'enough' })
  }
})

const values: readonly (readonly [title: string, value: string])[] = [
  ['a substitution', '$(whoami)`id`${HOME}$HOME'],
  ['quotes', `'"'"'\\"\\'`],
  ['line ends', '\na\r\nb\n'],
  ['nothing', ''],
  ['spaces and patterns', '  * ? [a] {1,2} ~ '],
  ['control characters', '\x01\x7f\x1b[31m\b'],
  ['what is not ASCII', 'héllo 漢字 🦊'],
  ['what looks like options', '-n -e --help'],
  ['100 KB', 'x'.repeat(100_000)],
]

for (const [title, value] of values)
  test(`a variable is literal: ${title}`, async () => {
    const session = await sandbox.createSession({ env: { VALUE: value } })
    await sandbox.setEnvVars({ GLOBAL: value })
    const { stdout } = await session.exec('printf "%s|%s" "$VALUE" "$GLOBAL"')
    assert.equal(stdout, `${value}|${value}`)
    const again = await session.exec('python3 -c "pass" 2>/dev/null; printenv VALUE; printenv GLOBAL')
    assert.equal(again.stdout, `${value}\n${value}\n`)
    if (!hasSecure) return
    const secure = await sandbox.exec('printenv VALUE', { env: { VALUE: value } })
    assert.equal(secure.stdout, `${value}\n`)
  })

test('a secure command has its variables, five more, and no others', { skip: withoutSecure }, async () => {
  await sandbox.setEnvVars({ GLOBAL: 'global' })
  const [own, ...folders] = (await sandbox.exec('printf %s "$PATH"')).stdout.split(':')
  const path = folders.join(':')
  assert.match(
    path,
    /^\/opt\/lazaret\/bin:([^:]+:)?\/usr\/local\/bin:\/usr\/bin:\/bin:\/usr\/local\/sbin:\/usr\/sbin$/,
  )
  assert.equal(own, `${guestHome}/.local/bin`)
  const session = await sandbox.createSession({ env: { OWN: 'own' }, cwd: '/tmp' })
  const { stdout, isolation } = await session.exec('pwd; env | grep -v ^_= | sort', {
    env: { A: '1', EMPTY: '', SKIPPED: undefined, SHLVL: '7', OLDPWD: '/usr' },
  })
  assert.deepEqual(stdout.trim().split('\n'), [
    '/tmp',
    'A=1',
    'EMPTY=',
    `HOME=${guestHome}`,
    'LANG=C.UTF-8',
    'OLDPWD=/usr',
    `PATH=${path}`,
    'SHLVL=7',
    'TERM=dumb',
    'TZ=UTC',
  ])
  assert.equal(isolation.space, 'secure')
  assert.match(
    isolation.note ?? '',
    /could see no variable of its session, and no process and no server and no \/tmp/,
  )
})

for (const [title, env] of [
  ['nothing', {}],
  ['only what is undefined', { TOKEN: undefined }],
] as const)
  test(`an env of ${title} does not start secure mode, and the result reports that`, async () => {
    const { isolation, stdout } = await sandbox.exec('echo "[$TOKEN]"', { env })
    assert.equal(stdout, '[]\n')
    assert.equal(isolation.space, 'user')
    assert.match(isolation.note ?? '', /without credentials/)
  })

test('an empty value is enough for secure mode', { skip: withoutSecure }, async () => {
  const { isolation } = await sandbox.exec('true', { env: { TOKEN: '' } })
  assert.equal(isolation.space, 'secure')
})

test('setEnvVars affects every later command of the user space, but none with credentials', async () => {
  const session = await sandbox.createSession()
  await session.exec(':')
  await sandbox.setEnvVars({ LATER: '1' })
  const process = await sandbox.startProcess('echo $LATER')
  await process.waitForExit()
  const streamed: string[] = []
  for await (const event of sandbox.execStream('echo $LATER'))
    if (event.type === 'stdout') streamed.push(event.text)
  const fresh = await sandbox.createSession()
  for (const { exec } of [sandbox, session, fresh])
    assert.equal((await exec.call(sandbox, 'echo $LATER', {})).stdout, '1\n')
  assert.equal(process.getLogs().stdout, '1\n')
  assert.deepEqual(streamed, ['1\n'])
  if (hasSecure) assert.equal((await sandbox.exec('echo [$LATER]', { env: { A: '1' } })).stdout, '[]\n')
  await sandbox.setEnvVars({ LATER: undefined })
  for (const { exec } of [sandbox, session, fresh])
    assert.equal((await exec.call(sandbox, 'echo ${LATER-unset}', {})).stdout, 'unset\n')
})

test('$VAR is empty after a command with credentials', { skip: withoutSecure }, async () => {
  assert.equal((await sandbox.exec('echo $TOKEN', { env: { TOKEN: 't0ken' } })).stdout, 't0ken\n')
  assert.equal((await sandbox.exec('echo "[$TOKEN]"')).stdout, '[]\n')
})

test('home is empty and private, or the workspace', { skip: withoutSecure }, async () => {
  await sandbox.exec('echo planted > .npmrc')
  const env = { TOKEN: 't' }
  assert.equal((await sandbox.exec('ls -A ~ | wc -l; touch ~/x; ls ~', { env })).stdout, '0\nx\n')
  assert.equal((await sandbox.exec('ls -A ~', { env })).stdout, '')
  assert.equal(
    (await sandbox.exec('echo $HOME; cat ~/.npmrc', { env, home: 'workspace' })).stdout,
    '/workspace\nplanted\n',
  )
})

test('secure commands above the limit wait for their turn', { skip: withoutSecure }, async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => String(index))
  const results = await Promise.all(
    numbers.map((number) => sandbox.exec('sleep 0.1; echo "$NUMBER"', { env: { NUMBER: number } })),
  )
  assert.deepEqual(
    results.map(({ stdout }) => stdout.trim()),
    numbers,
  )
})
