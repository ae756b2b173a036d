/**
 * Finding the secret of a command with credentials: from the user space, while the command runs and afterwards; on the
 * host, in Lazaret's own records and messages.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'

import type { LazaretEvent } from '../../../src/index.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { holdSecret, inventSecret, scanOnce } from '../../support/hostile/secret-scanner.ts'
import type { ScanReport } from '../../support/hostile/secret-scanner.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const events: LazaretEvent[] = []
const guests = await useLazaret({ onEvent: (event) => void events.push(event) })
const files = { 'hold.py': holdSecret, 'scan.py': scanOnce }

const readReport = (stdout: string) => JSON.parse(stdout) as ScanReport

test('a scanner finds a secret that is in the user space, wherever it is', async () => {
  await using target = await openTarget(guests, { files })
  // The counter-check passes the secret in an unprotected way: the scanner must find it.
  const ready = await target.sandbox.startProcess(`SECRET=${inventSecret()} HOME=/workspace python3 hold.py`)
  await ready.waitForLog('ready')
  const { found } = readReport((await target.look('python3 scan.py')).stdout)
  for (const place of [
    /environ/,
    /cmdline/,
    /^memory of/,
    /fd\//,
    /^\/dev\/shm\//,
    /^\/tmp\//,
    /^socket/,
    /net\/unix/,
  ])
    assert.ok(
      found.some((name) => place.test(name)),
      `${place} is not among ${found.join(', ')}`,
    )
})

test('no process of the user space finds a secret while its command runs, or afterwards', async () => {
  await using target = await openTarget(guests, { files })
  const { sandbox } = target
  const secret = inventSecret()
  const ready = Promise.withResolvers<void>()
  const secure = sandbox.exec('python3 -I hold.py', {
    env: { SECRET: secret },
    onOutput: () => ready.resolve(),
  })
  await Promise.race([ready.promise, secure])
  const during = readReport((await target.look('python3 scan.py')).stdout)
  assert.deepEqual(during.found, [])
  assert.ok(during.looked > 500, `only ${during.looked} places`)
  await sandbox.exec('touch over')
  const { stdout, stderr, exitCode } = await secure
  assert.deepEqual([stdout, exitCode], ['ready\n', 0], stderr)
  assert.deepEqual(readReport((await target.look('python3 scan.py')).stdout).found, [])
  const { stdout: left } = await target.look('ls -A /workspace; echo $SECRET; env; history; export -p')
  assert.doesNotMatch(left, /core|SECRET|lazaret:/)
  const next = await sandbox.exec('env; ls -A ~ /tmp /dev/shm', { env: { OTHER: 'x' } })
  assert.doesNotMatch(next.stdout, /SECRET|lazaret:/)
  await target.requireUnharmed()
})

test('the host leaves no secret in environment, arguments, events, errors, objects or files', async () => {
  await using target = await openTarget(guests)
  const { sandbox } = target
  const secret = inventSecret()
  const env = { SECRET: secret }
  const errors = await Promise.all(
    [
      sandbox.exec('kill -9 $$', { env }),
      sandbox.exec('sleep 60', { env, timeout: 50 }),
      sandbox.exec('sleep 60', { env, signal: AbortSignal.abort() }),
      sandbox.exec('cd /nowhere; exit 3', { env, cwd: '/nowhere' }),
      sandbox.exec('true', { env: { ...env, 'a b': secret } }),
      sandbox.exec('true', { env: { SECRET: `${secret}\0` } }),
      sandbox.exec('true', { env: { SECRET: secret.repeat(4000) } }),
      sandbox.exec('true', { env, sessionId: 'nobody' }),
      sandbox.exec('true', { env, cwd: 'relative' }),
      sandbox.exec('', { env }),
      sandbox.exec('echo $SECRET >&2; exec /nowhere', { env, stdin: secret }).then(({ outcome }) => outcome),
      sandbox.startProcess('true', { env }),
      // Wrong options must not reveal it in the error either.
      sandbox.exec('true', { env: [secret] as never }),
      sandbox.exec('true', { env: { SECRET: { secret } } as never }),
      sandbox.exec('true', env as never),
      sandbox.setEnvVars({ SECRET: `${secret}\0` }),
    ].map((work) => work.catch((error: unknown) => error)),
  )
  const depth = 12
  const shown = inspect([errors, events, sandbox, guests.lazaret, process.env, process.argv], {
    depth,
    showHidden: true,
  })
  assert.ok(!shown.includes(secret))
  assert.ok(!JSON.stringify(errors).includes(secret))
  assert.ok(errors.some((error) => inspect(error).includes('Invalid environment variable name')))
  for (const path of listFiles(guests.leaks.temporaryFolder))
    assert.ok(!readFileSync(path).includes(secret), path)
  const ours = [process.pid, ...listDescendants(process.pid).map(({ pid }) => pid)]
  for (const path of ours.flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`]))
    assert.ok(!readIfAllowed(path).includes(secret), path)
})

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile())
}

/** A process that has ended, or changed its ids, shows nothing. */
function readIfAllowed(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
