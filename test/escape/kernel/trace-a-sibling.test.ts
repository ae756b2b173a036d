/** Processes of the same cell: tracing one is refused like tracing any other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `${pythonSyscalls}
import signal, time
sibling = os.fork()
if sibling == 0:
    ctypes.CDLL(None).prctl(0x59616d61, -1) # PR_SET_PTRACER_ANY, where Yama stands
    time.sleep(60)
answers = {}
for request in (16, 0x4206): answers['attach %d' % request] = call('ptrace', request, sibling, 0, 0)
answers['trace me'] = call('ptrace', 0, 0, 0, 0)
vector = (ctypes.c_uint64 * 2)()
answers['read'] = call('process_vm_readv', sibling, vector, 1, vector, 1, 0)
answers['write'] = call('process_vm_writev', sibling, vector, 1, vector, 1, 0)
answers['compare'] = call('kcmp', os.getpid(), sibling, 0, 0, 0)
answers['move pages'] = call('move_pages', sibling, 0, None, None, None, 0)
answers['limit'] = call('prlimit64', sibling, 7, (ctypes.c_uint64 * 2)(0, 0), None)
pidfd = _libc.syscall(ctypes.c_long(_numbers['pidfd_open']), ctypes.c_long(sibling), ctypes.c_long(0))
answers['take a descriptor'] = call('pidfd_getfd', pidfd, 1, 0)
answers['advise'] = call('process_madvise', pidfd, vector, 1, 21, 0)
os.kill(sibling, signal.SIGKILL)
os.wait()
print(json.dumps(answers))`

test('python: a sibling is not traced, read, written, limited or robbed of a descriptor', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const answers = JSON.parse(stdout) as Record<string, string>
  assert.deepEqual(
    Object.entries(answers).filter(([, answer]) => answer !== 'EPERM'),
    [],
  )
})
