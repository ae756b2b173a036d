/** setns into every namespace for which a guest can get a descriptor, in every way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `${pythonSyscalls}
import fcntl, socket
flags = [0, 0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x7e020080]
pidfds = [_libc.syscall(ctypes.c_long(_numbers['pidfd_open']), ctypes.c_long(pid), ctypes.c_long(0)) for pid in (1, os.getpid(), os.getppid() or 1)]
folders = []
for path in ('/proc/self', '/proc/1', '/proc/self/task', '/proc/self/fd'):
    try: folders.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
    except PermissionError: pass
names = ('cgroup', 'ipc', 'mnt', 'net', 'pid', 'pid_for_children', 'time', 'time_for_children', 'user', 'uts')
opened, entered, parents = [], [], []
for pid in ('self', 'thread-self', '1'):
    for name in names:
        try: opened.append((pid + '/' + name, os.open('/proc/%s/ns/%s' % (pid, name), os.O_RDONLY)))
        except OSError: pass
for number in (0xb701, 0xb702): # NS_GET_USERNS, NS_GET_PARENT
    for name, fd in list(opened):
        try:
            parents.append((name, os.readlink('/proc/self/fd/%d' % fcntl.ioctl(fd, number))))
            opened.append(('parent of ' + name, fcntl.ioctl(fd, number)))
        except OSError: pass
for number in range(0xff01, 0xff10): # PIDFD_GET_*_NAMESPACE
    for pidfd in pidfds:
        try: opened.append(('pidfd %d' % pidfd, fcntl.ioctl(pidfd, number)))
        except OSError: pass
try: opened.append(('network of a socket', fcntl.ioctl(socket.socket(), 0x894c))) # SIOCGSKNS
except OSError: pass
for name, fd in opened + [('pidfd', fd) for fd in pidfds] + [('folder', fd) for fd in folders]:
    for flag in flags:
        answer = call('setns', fd, flag)
        if answer != 'EPERM': entered.append([name, flag, answer])
own = {os.readlink('/proc/self/ns/' + name) for name in names}
print(json.dumps({'opened': len(opened), 'entered': entered, 'outside': [p for p in parents if p[1] not in own], 'own': sorted(own)}))`

test('python: no descriptor of any namespace lets a guest enter it, or one outside the cell', async () => {
  const { outcome, stdout, stderr, receipt } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const answer = JSON.parse(stdout) as {
    opened: number
    entered: unknown[]
    outside: unknown[]
    own: string[]
  }
  assert.ok(answer.opened >= 6, stdout)
  assert.deepEqual([answer.entered, answer.outside], [[], []])
  assert.ok(answer.own.includes(`pid:[${/\d+/.exec(receipt.observed['ns_pid'] ?? '')?.[0]}]`), stdout)
})
