/**
 * Processes of the host and of other cells: no guest can signal, trace or read them. With a pid namespace they do
 * not exist for it; without one, a guest that tries a pid learns that it is in use.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const hasPidNamespace = guests.level !== 'restricted'

// The same uid as this process, so that at a level without separate uids only the namespace protects it.
const bystander = spawn('sleep', ['600'], { stdio: 'ignore' })
await once(bystander, 'spawn')
const pid = bystander.pid as number
guests.leaks.allow(pid)
after(async () => {
  bystander.kill('SIGKILL')
  await once(bystander, 'exit')
})

const assertUnharmed = () =>
  assert.deepEqual([bystander.exitCode, bystander.signalCode, bystander.kill(0)], [null, null, true])

const killFromJavaScript = `
  const { existsSync } = await import('node:fs')
  const answers = input.flatMap((pid) => ['SIGKILL', 'SIGSTOP'].map((name) => { try { return process.kill(pid, name) } catch (error) { return error.code } }))
  console.log(JSON.stringify({ seen: input.some((pid) => existsSync('/proc/' + pid)), answers }))`

const attacks = {
  shell: {
    ...shell,
    code: `for pid in $(cat pids); do kill -9 $pid && echo hit; kill -STOP -- -$pid && echo hit; test -e /proc/$pid && seen=true; cat /proc/$pid/cmdline; done 2>/dev/null; echo '{"seen":'\${seen:-false}',"answers":[]}'`,
  },
  bun: { ...bun, code: killFromJavaScript },
  node: { ...node, code: killFromJavaScript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name} reaches no process of the host whose pid it knows, and sees none from a pid namespace`, async () => {
    const pids = [pid, process.pid, process.ppid]
    const { outcome, stdout } = await guests.run({ ...request, input: pids, files: { pids: pids.join(' ') } })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    const { seen, answers } = JSON.parse(stdout) as { seen: boolean; answers: string[] }
    assert.equal(seen, !hasPidNamespace)
    assert.ok(answers.every((answer) => answer === (hasPidNamespace ? 'ESRCH' : 'EPERM')))
    assertUnharmed()
  })
}

test('python: a signal to every pid there can be reaches only the cell', async () => {
  const code = `
import json, os, signal
mine = {1, os.getpid()}
reached, refused = [], set()
for pid in range(2, 70000):
    if pid in mine: continue
    for number in (signal.SIGKILL, signal.SIGSTOP):
        try:
            os.kill(pid, number)
            reached.append(pid)
        except ProcessLookupError: pass
        except PermissionError: refused.add(pid)
for group in range(2, 40000):
    if group == os.getpgrp(): continue
    try:
        os.killpg(group, signal.SIGKILL)
        reached.append(-group)
    except (ProcessLookupError, PermissionError): pass
readable = []
for pid in refused:
    for name in ('cmdline', 'comm', 'environ', 'maps', 'mem', 'stat', 'statm', 'status', 'syscall', 'wchan'):
        try: open('/proc/%d/%s' % (pid, name), 'rb').read(1)
        except OSError: continue
        readable.append((pid, name))
    for name in ('cwd', 'exe', 'root', 'fd/0', 'ns/net'):
        try: os.readlink('/proc/%d/%s' % (pid, name))
        except OSError: continue
        readable.append((pid, name))
try: seen = sorted(int(name) for name in os.listdir('/proc') if name.isdigit())
except PermissionError: seen = []
print(json.dumps({'reached': reached, 'seen': seen, 'self': os.getpid(), 'refused': sorted(refused), 'readable': readable}))`
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const { reached, seen, self, refused, readable } = JSON.parse(stdout) as {
    [name in 'reached' | 'seen' | 'refused' | 'readable']: number[]
  } & { self: number }
  assert.deepEqual({ reached, readable }, { reached: [], readable: [] })
  // Pid 1 counts locks and pages in two helper processes: native/cell/watch/survey.c.
  const others = seen.filter((one) => one !== 1 && one !== self)
  assert.ok(
    hasPidNamespace ? seen.length - others.length === 2 && others.length <= 2 : seen.length === 0,
    seen.join(),
  )
  // Only a pid namespace would hide that this pid is in use.
  assert.equal(refused.includes(pid), !hasPidNamespace)
  assertUnharmed()
})

test('the guest of another cell can be neither listed nor reached', async () => {
  const started = Promise.withResolvers<void>()
  const other = guests.run({
    ...shell,
    code: 'echo up; sleep 1; echo unharmed',
    onOutput: () => started.resolve(),
  })
  await started.promise
  const { stdout } = await guests.run({
    ...shell,
    code: 'kill -9 -1; ls -d /proc/[0-9]* | wc -l; ps -eo args= | grep -c "[s]leep 1"',
  })
  // Without a pid namespace there is no /proc to list.
  assert.match(stdout, hasPidNamespace ? /^[1-5]\n0\n$/ : /^0\n0\n$/)
  assert.deepEqual((await other).outcome, { kind: 'completed', exitCode: 0 })
  assert.equal((await other).stdout, 'up\nunharmed\n')
})
