/**
 * Using up shared resources: processes, memory, disk, processor, descriptors, watches, output. While one command of the
 * user space does so, and afterwards, other commands and those with secrets still work.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { processesLimitIsMissing } from '../../support/hostile/limits-hold.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const unbounded = await processesLimitIsMissing(guests)
const MiB = 1024 * 1024

const python = (code: string) => `exec python3 - <<'end of code'\n${code}\nend of code`

/** Resolves when it has reported that it is under way, or has ended. */
function startAttack(target: Awaited<ReturnType<typeof openTarget>>, command: string, timeout = 10_000) {
  const begun = Promise.withResolvers<void>()
  const ended = target.sandbox.exec(command, { timeout, onOutput: () => begun.resolve() })
  void ended.catch(() => undefined).then(() => begun.resolve())
  return { begun: begun.promise, ended }
}

test('a fork bomb uses all the processes of the user space, but none of a secure command', async (context) => {
  if (unbounded !== false) {
    context.skip(unbounded)
    return
  }
  await using target = await openTarget(guests, { limits: { processesMax: 64 } })
  const bomb = `
import os, time
for _ in range(200):
    try:
        if os.fork() == 0: time.sleep(60)
    except OSError: break
print('full', flush=True)
time.sleep(60)`
  const { begun, ended } = startAttack(target, python(bomb), 700)
  await begun
  await target.requireUnharmed()
  const forks = 'for n in {1..30}; do sleep 0.05 & done; wait; /bin/echo $SECRET'
  const secure = await target.sandbox.exec(forks, { env: { SECRET: 'kept' } })
  assert.deepEqual([secure.stdout, secure.stderr], ['kept\n', ''])
  await ended
  assert.equal((await target.look('/bin/echo again')).stdout, 'again\n')
  await target.requireUnharmed()
})

test('memory beyond the limit only ends the processes that allocate it', async () => {
  await using target = await openTarget(guests, { limits: { memoryBytes: 128 * MiB, diskBytes: 16 * MiB } })
  const { begun, ended } = startAttack(
    target,
    python('print(1, flush=True)\na = [bytearray(1 << 20) for _ in range(400)]'),
  )
  await begun
  await target.sandbox.exec(':', { env: { SECRET: 'kept' } })
  const end = await ended.catch(() => undefined)
  assert.notEqual(end?.exitCode, 0)
  await target.requireUnharmed()
})

test(
  'what a command with secrets writes to its HOME counts as memory',
  { skip: guests.level === 'restricted' && 'there are no such commands here' },
  async () => {
    await using target = await openTarget(guests, {
      limits: { memoryBytes: 256 * MiB, diskBytes: 128 * MiB },
    })
    // Neither alone exceeds the limit.
    const fill = (bytes: string) =>
      `head -c ${bytes} /dev/zero > ~/file && exec python3 -c 'import time; a = b"x" * (232 << 20); time.sleep(1); print("held")'`
    const held = async (bytes: string) =>
      (await target.sandbox.exec(fill(bytes), { env: { SECRET: 'kept' } }).catch(() => undefined))?.stdout ??
      ''
    assert.match(await held('1'), /held/)
    assert.doesNotMatch(await held('30M'), /held/)
    await target.requireUnharmed()
  },
)

test('file systems that are full, by bytes or by names, are an error only for writers', async () => {
  await using target = await openTarget(guests, { limits: { diskBytes: 2 * MiB } })
  const fill = `for d in /workspace /tmp /dev/shm; do head -c 8M /dev/zero > $d/bytes; done 2>/dev/null
rm /tmp/bytes; (n=0; while : > /tmp/$n; do n=$((n + 1)); done) 2>/dev/null; echo full`
  assert.match((await target.attack(fill))?.stdout ?? '', /full/)
  await target.requireUnharmed()
  const secure = await target.sandbox.exec(
    'echo a > ~/file; echo b > /tmp/file; echo c > /dev/shm/file; cat ~/file /tmp/file /dev/shm/file',
    {
      env: { SECRET: 'kept' },
    },
  )
  assert.equal(secure.stdout, 'a\nb\nc\n')
  assert.equal((await target.look('rm /workspace/bytes; echo $?; echo more > /workspace/more')).stdout, '0\n')
})

test('using all descriptors and watches of one user, and every processor, does not stop others', async () => {
  await using target = await openTarget(guests)
  const hoard = `
import ctypes, os, signal, socket, time
libc = ctypes.CDLL(None)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
for _ in range(6):
    if os.fork() != 0: continue
    held = []
    try:
        while libc.inotify_init() >= 0: pass
        while True: held += [os.pipe(), socket.socketpair()]
    except OSError: pass
    while True: pass
time.sleep(0.3)
print('full', flush=True)
time.sleep(60)`
  const { begun, ended } = startAttack(target, python(hoard), 700)
  await begun
  await target.requireUnharmed()
  await ended
  await target.requireUnharmed()
})

test('endless output of several commands that is not read', async () => {
  await using target = await openTarget(guests)
  const never = Promise.withResolvers<void>()
  const floods = [1, 2, 3].map(async () => {
    const { id } = await target.sandbox.createSession()
    return target.sandbox.exec('yes; :', { sessionId: id, timeout: 500, onOutput: () => never.promise })
  })
  await target.requireUnharmed()
  never.resolve()
  for (const { outcome } of await Promise.all(floods)) assert.equal(outcome.kind, 'timed-out')
  await target.requireUnharmed()
})

test('the shell that waits for the next command is stopped, and its folder closed to everybody', async () => {
  await using target = await openTarget(guests)
  await target.attack('kill -STOP -1')
  await target.requireUnharmed()
  await target.attack('chmod 000 /workspace')
  const refused = await target.sandbox.exec('echo here')
  assert.deepEqual([refused.exitCode, refused.stderr], [1, 'Failed to change directory to /workspace\n'])
  const { stdout } = await target.sandbox.exec('echo $SECRET', { cwd: '/', env: { SECRET: 'kept' } })
  assert.equal(stdout, 'kept\n')
  await target.sandbox.exec('chmod 755 /workspace', { cwd: '/' })
  await target.requireUnharmed()
})
