/**
 * The cell's pid 1 is our end of the run: killing, stopping, tracing, starving or limiting it must not work. Without a
 * pid namespace that is the warden, and number 1 is the init of the host. Either way it is the guest's parent.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../support/guest-python.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()
const hasPidNamespace = guests.level !== 'restricted'

test('shell: no signal ends or stops pid 1, and `kill -9 -1` leaves the run its own outcome', async () => {
  const code = `
for name in KILL STOP TERM INT HUP QUIT SEGV ABRT CHLD XCPU SYS USR1 34 64; do kill -s $name 1 2>/dev/null; kill -s $name $PPID 2>/dev/null; kill -s $name -1 2>/dev/null; trap '' TERM INT HUP QUIT XCPU USR1; done
test -d /proc/1 && test -d /proc/$PPID && echo $PPID lives
exit 7`
  // The shell itself is spared by kill(-1), but the signals it was sent by name above end it unless ignored.
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: `trap '' TERM INT HUP QUIT XCPU USR1\n${code}`,
    limits: { wallMs: 5000 },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 7 })
  assert.match(stdout, hasPidNamespace ? /^1 lives\n$/ : /^\d{2,} lives\n$/)
})

const javascript = `
  for (const name of ['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSEGV', 'SIGCHLD']) { for (const pid of [1, process.ppid]) { try { process.kill(pid, name) } catch {} } }
  try { process.kill(-1, 'SIGKILL') } catch {}
  const { existsSync } = await import('node:fs')
  console.log(existsSync('/proc/1'), existsSync('/proc/' + process.ppid))`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no signal ends or stops pid 1`, async () => {
    const { outcome, stdout } = await guests.run({ ...runtime, code: javascript, limits: { wallMs: 5000 } })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, 'true true\n')
  })
}

test('python: pid 1 cannot be signalled by pidfd, traced, read, limited, reniced, pinned or marked for the oom killer', async () => {
  const code = `${pythonSyscalls}
import time
answers = {}
def attack(pid):
    pidfd = _libc.syscall(ctypes.c_long(_numbers['pidfd_open']), ctypes.c_long(pid), ctypes.c_long(0))
    for number in (9, 19):
        call('kill', pid, number); call('tgkill', pid, pid, number); call('pidfd_send_signal', pidfd, number, None, 0)
    note = lambda what, answer: answers.update({'%s of %d' % (what, pid): answer})
    note('ptrace attach', call('ptrace', 16, pid, 0, 0))
    note('ptrace seize', call('ptrace', 0x4206, pid, 0, 0))
    limit = (ctypes.c_uint64 * 2)(0, 0)
    for resource in (0, 1, 7, 9): note('prlimit %d' % resource, call('prlimit64', pid, resource, limit, None))
    note('read memory', call('process_vm_readv', pid, limit, 1, limit, 1, 0))
    note('take a descriptor', call('pidfd_getfd', pidfd, 3, 0))
    note('renice', call('setpriority', 0, pid, 19))
    mask = (ctypes.c_uint64 * 16)(1)
    note('pin', call('sched_setaffinity', pid, 128, mask))
    param = (ctypes.c_int * 1)(0)
    note('schedule as idle', call('sched_setscheduler', pid, 5, param))
    note('disk priority', call('ioprio_set', 1, pid, 3 << 13))
    for name in ('environ', 'mem', 'maps', 'oom_score_adj', 'exe', 'cwd', 'root', 'fd', 'fdinfo', 'ns/pid', 'ns/user', 'stack', 'io', 'auxv', 'coredump_filter', 'clear_refs'):
        path = '/proc/%d/%s' % (pid, name)
        try:
            if name in ('oom_score_adj', 'coredump_filter', 'clear_refs'): open(path, 'w').write('1')
            elif name in ('fd', 'fdinfo'): os.listdir(path)
            elif name in ('exe', 'cwd', 'root', 'ns/pid', 'ns/user'): os.readlink(path)
            else: open(path, 'rb').read(16)
            note(path, 'ok')
        except OSError as error: note(path, errno.errorcode[error.errno])
for pid in {1, os.getppid()}: attack(pid)
time.sleep(0.05)
try: state = open('/proc/%d/stat' % os.getppid()).read().rsplit(')', 1)[1].split()[0]
except PermissionError: state = 'hidden'
print(json.dumps({'state': state, 'allowed': [k for k, v in answers.items() if v not in ('EPERM', 'EACCES')]}))`
  const { outcome, stdout, stderr } = await guests.run({ ...python, code, limits: { wallMs: 5000 } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), { state: hasPidNamespace ? 'S' : 'hidden', allowed: [] })
})

test('python: after every attack on pid 1 the wall limit still holds', async () => {
  const code = `
import os, resource, time
for number in range(1, 65):
    if number == 32 or number == 33: continue
    for pid in (1, os.getppid()):
        try: os.kill(pid, number)
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
  const { stdout } = await guests.run({
    ...shell,
    code: `tr '\\0' ' ' < /proc/$PPID/cmdline; cat /proc/$PPID/comm`,
  })
  assert.equal(stdout, hasPidNamespace ? 'cell cell\n' : '')
})
