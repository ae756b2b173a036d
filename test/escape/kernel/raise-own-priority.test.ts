/** Raising one's own priority: real-time scheduling, nice, disk priority, deadlines. */
import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Guests inherit the priority of their host, which may have been started with `nice`. */
const given = getPriority()

const fromJavaScript = `
  const os = await import('node:os')
  for (const level of [${given - 1}, -1, -7, -14, -20]) { try { os.setPriority(level); console.log('raised', level) } catch {} }
  console.log(os.getPriority())`

const code = `${pythonSyscalls}
import struct
raised = []
for policy in (1, 2):
    for priority in (1, 50, 99):
        if call('sched_setscheduler', 0, policy, (ctypes.c_int * 1)(priority)) == 'ok': raised.append(['policy', policy, priority])
        attributes = struct.pack('=IIQiIQQQ', 48, policy, 0, 0, priority, 0, 0, 0)
        if call('sched_setattr', 0, attributes, 0) == 'ok': raised.append(['attributes', policy, priority])
deadline = struct.pack('=IIQiIQQQ', 48, 6, 0, 0, 0, 10 ** 7, 10 ** 8, 10 ** 8)
if call('sched_setattr', 0, deadline, 0) == 'ok': raised.append(['deadline'])
for nice in range(-20, ${given}):
    if call('sched_setattr', 0, struct.pack('=IIQiIQQQ', 48, 0, 0, nice, 0, 0, 0, 0), 0) == 'ok': raised.append(['nice by attributes', nice])
    for what in (0, 1, 2):
        try:
            os.setpriority(what, 0, nice)
            raised.append(['nice', what, nice])
        except OSError: pass
for level in range(8):
    if call('ioprio_set', 1, 0, 1 << 13 | level) == 'ok': raised.append(['disk', level])
for path, value in (('/proc/self/autogroup', b'-20'), ('/proc/self/oom_score_adj', b'-1000'), ('/proc/self/oom_adj', b'-17')):
    try:
        os.write(os.open(path, os.O_WRONLY), value)
        raised.append([path])
    except OSError: pass
import resource
for name in ('RLIMIT_RTPRIO', 'RLIMIT_NICE', 'RLIMIT_RTTIME', 'RLIMIT_NPROC', 'RLIMIT_NOFILE', 'RLIMIT_MEMLOCK', 'RLIMIT_MSGQUEUE', 'RLIMIT_CORE', 'RLIMIT_FSIZE'):
    limit = getattr(resource, name)
    hard = resource.getrlimit(limit)[1]
    if hard == resource.RLIM_INFINITY: continue
    try:
        resource.setrlimit(limit, (hard + 1, hard + 1))
        if resource.getrlimit(limit)[1] > hard: raised.append([name])
    except (OSError, ValueError): pass
print(json.dumps(raised))`

test('python: a process can raise neither its scheduling class, its priority nor its limits', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), [])
})

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: its priority cannot be raised`, async () => {
    assert.equal((await guests.run({ ...runtime, code: fromJavaScript })).stdout, `${given}\n`)
  })
}

test('shell: nice, chrt, ionice and ulimit raise nothing', async () => {
  const script = `nice -n -5 sh -c 'nice' 2>/dev/null; chrt -f 10 echo fifo 2>/dev/null; chrt -r 10 echo rr 2>/dev/null; ionice -c 1 echo disk 2>/dev/null; for f in n u l q e r f; do (ulimit -H$f unlimited) 2>/dev/null && test "$(ulimit -H$f)" != unlimited && echo raised $f; done; exit 0`
  assert.equal((await guests.run({ ...shell, code: script })).stdout, `${given}\n`)
})
