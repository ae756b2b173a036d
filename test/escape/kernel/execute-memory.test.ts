/** Executing programs from a memfd, or from any writable folder. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `${pythonSyscalls}
fd = _libc.syscall(ctypes.c_long(_numbers['memfd_create']), b'program', ctypes.c_long(0))
if fd < 0:
    print(errno.errorcode[ctypes.get_errno()])
    sys.stdout.flush()
    os._exit(0)
os.write(fd, open('/bin/grep', 'rb').read())
os.set_inheritable(fd, True)
os.execve(fd, ['grep', '-E', '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):', '/proc/self/status'], {})`

test('a program executed from a memfd runs behind the same walls, and where memfds do not exist it does not run', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  if (!guests.heldByCgroup) assert.equal(stdout, 'ENOSYS\n')
  else {
    const [uid = '', ...walls] = stdout.trimEnd().split('\n')
    const [name, ...uids] = uid.split('\t')
    assert.equal(name, 'Uid:')
    assert.deepEqual(walls, [
      'CapEff:\t0000000000000000',
      'CapBnd:\t0000000000000000',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
    ])
    // Its own uid: a user namespace has this name for it; without one it belongs to no user of the host.
    if (guests.level === 'restricted') assert.ok(uids.every((id) => Number(id) >= 2_000_000_000))
    else assert.deepEqual(uids, ['1000', '1000', '1000', '1000'])
  }
})

test('nothing can be executed from /dev/shm; from the workspace a program runs behind the same walls', async () => {
  const script = `for folder in /dev/shm $HOME; do cp /bin/grep $folder/g; done 2>/dev/null
/dev/shm/g -c '^Seccomp:.2' /proc/self/status 2>/dev/null || echo refused
exec $HOME/g -c '^Seccomp:.2' /proc/self/status`
  assert.equal((await guests.run({ ...shell, code: script })).stdout, 'refused\n1\n')
})
