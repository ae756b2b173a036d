/** The cell's pid 1 is our end of the run: killing, stopping, tracing, starving or limiting it must not work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../support/guest-python.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

test('shell: no signal ends or stops pid 1, and `kill -9 -1` leaves the run its own outcome', async () => {
  const code = `
for name in KILL STOP TERM INT HUP QUIT SEGV ABRT CHLD XCPU SYS USR1 34 64; do kill -s $name 1 2>/dev/null; kill -s $name -1 2>/dev/null; trap '' TERM INT HUP QUIT XCPU USR1; done
test -d /proc/1 && echo pid 1 lives
exit 7`
  // The shell itself is spared by kill(-1), but the signals it was sent by name above end it unless ignored.
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: `trap '' TERM INT HUP QUIT XCPU USR1\n${code}`,
    limits: { wallMs: 5000 },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
  assert.equal(stdout, 'pid 1 lives\n')
})

const javascript = `
  for (const name of ['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSEGV', 'SIGCHLD']) { try { process.kill(1, name) } catch {} }
  try { process.kill(-1, 'SIGKILL') } catch {}
  const { existsSync } = await import('node:fs')
  console.log(existsSync('/proc/1'))`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no signal ends or stops pid 1`, async () => {
    const { outcome, stdout } = await guests.run({ ...runtime, code: javascript, limits: { wallMs: 5000 } })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'true\n')
  })
}

test('python: pid 1 cannot be signalled by pidfd, traced, read, limited, reniced, pinned or marked for the oom killer', async () => {
  const code = `${pythonSyscalls}
import time
answers = {}
pidfd = _libc.syscall(ctypes.c_long(_numbers['pidfd_open']), ctypes.c_long(1), ctypes.c_long(0))
for number in (9, 19):
    call('kill', 1, number); call('tgkill', 1, 1, number); call('pidfd_send_signal', pidfd, number, None, 0)
answers['ptrace attach'] = call('ptrace', 16, 1, 0, 0)
answers['ptrace seize'] = call('ptrace', 0x4206, 1, 0, 0)
limit = (ctypes.c_uint64 * 2)(0, 0)
for resource in (0, 1, 7, 9): answers['prlimit %d' % resource] = call('prlimit64', 1, resource, limit, None)
answers['read memory'] = call('process_vm_readv', 1, limit, 1, limit, 1, 0)
answers['take a descriptor'] = call('pidfd_getfd', pidfd, 3, 0)
answers['renice'] = call('setpriority', 0, 1, 19)
mask = (ctypes.c_uint64 * 16)(1)
answers['pin'] = call('sched_setaffinity', 1, 128, mask)
param = (ctypes.c_int * 1)(0)
answers['schedule as idle'] = call('sched_setscheduler', 1, 5, param)
answers['disk priority'] = call('ioprio_set', 1, 1, 3 << 13)
for name in ('environ', 'mem', 'maps', 'oom_score_adj', 'exe', 'cwd', 'root', 'fd', 'fdinfo', 'ns/pid', 'ns/user', 'stack', 'io', 'auxv', 'coredump_filter', 'clear_refs'):
    path = '/proc/1/' + name
    try:
        if name in ('oom_score_adj', 'coredump_filter', 'clear_refs'): open(path, 'w').write('1')
        elif name in ('fd', 'fdinfo'): os.listdir(path)
        elif name in ('exe', 'cwd', 'root', 'ns/pid', 'ns/user'): os.readlink(path)
        else: open(path, 'rb').read(16)
        answers[path] = 'ok'
    except OSError as error: answers[path] = errno.errorcode[error.errno]
time.sleep(0.05)
print(json.dumps({'state': open('/proc/1/stat').read().rsplit(')', 1)[1].split()[0], 'allowed': [k for k, v in answers.items() if v not in ('EPERM', 'EACCES')]}))`
  const { outcome, stdout, stderr } = await guests.run({ ...python, code, limits: { wallMs: 5000 } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), { state: 'S', allowed: [] })
})

test('python: after every attack on pid 1 the wall limit still holds', async () => {
  const code = `
import os, resource, time
for number in range(1, 65):
    if number == 32 or number == 33: continue
    try: os.kill(1, number)
    except OSError: pass
for what in (os.PRIO_PGRP, os.PRIO_USER):
    try: os.setpriority(what, 0, 19)
    except OSError: pass
print('done', flush=True)
time.sleep(60)`
  const { outcome, stdout } = await guests.run({ ...python, code, limits: { wallMs: 800 } })
  assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 800 })
  assert.equal(stdout, 'done\n')
})

test('what pid 1 shows of itself names nothing of the host', async () => {
  const { stdout } = await guests.run({ ...shell, code: `tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm` })
  assert.equal(stdout, 'cell cell\n')
})
