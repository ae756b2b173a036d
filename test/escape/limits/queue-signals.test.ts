/**
 * Pending signals and timers take kernel memory, which is counted for each user of the machine (RLIMIT_SIGPENDING). A
 * guest that queues them endlessly gets only as many as its limit allows, in all its processes together.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import ctypes, errno, json, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
most = 4096
def count(take):
    taken = 0
    while taken < most and take() == 0: taken += 1
    return taken, errno.errorcode.get(ctypes.get_errno())
def queue(): return libc.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(0))
def start(): return libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p()))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
timers = [start() for _ in range(100)].count(0)
told = {'timers': timers, 'signals': count(queue), 'more timers': count(start)}
if os.fork() == 0:
    print(json.dumps({**told, 'signals of a child': count(queue)}), flush=True)
    os._exit(0)
os.wait()
try:
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (most, most))
    print('raised')
except ValueError: pass`

test('python: pending signals and timers are at most 1,024 in all processes together, and no guest can raise that', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const { timers, ...counted } = JSON.parse(stdout) as { timers: number } & Record<string, [number, string]>
  assert.equal(timers, 100)
  assert.deepEqual(Object.keys(counted), ['signals', 'more timers', 'signals of a child'])
  for (const [, refusal] of Object.values(counted)) assert.equal(refusal, 'EAGAIN', stdout)
  // If ids are shared, other processes of the user temporarily hold a few of the 1,024.
  const taken = Object.values(counted).reduce((sum, [count]) => sum + count, timers)
  assert.ok(taken <= 1024 && taken > 1000, stdout)
})
