/** Programs that lie in no file system: executed from a memfd, or from any folder that can be written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../support/guest-python.ts'
import { python, shell, useLazaret } from '../support/use-lazaret.ts'

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
  const behindWalls =
    'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n'
  assert.equal(stdout, guests.heldByCgroup ? behindWalls : 'ENOSYS\n')
})

test('nothing can be executed from /dev/shm; from the workspace a program runs behind the same walls', async () => {
  const script = `for folder in /dev/shm /workspace; do cp /bin/grep $folder/g; $folder/g -c '^Seccomp:.2' /proc/self/status 2>/dev/null || echo refused; done`
  assert.equal((await guests.run({ ...shell, code: script })).stdout, 'refused\n1\n')
})
