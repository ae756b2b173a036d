/** Locks on files: the kernel keeps memory for each of them that it charges to nobody. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import type { RunResult } from '../../../src/index.ts'
import { locksBetweenLooks, locksMax } from '../../../src/jail/machine/locks.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { untilShown } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const limits = { memoryBytes: 128 * 1024 * 1024, wallMs: 20_000, processesMax: 32 }
/** On a busy machine the first deadline may come before a program has that many locks. */
const deadlinesMs = [limits.wallMs, 3 * limits.wallMs]
/** Of this process's guests: other programs of the machine have locks, too. See proc_locks(5). */
function countLocks(): number {
  const ours = new Set(listDescendants(process.pid).map(({ pid }) => String(pid)))
  const rows = readFileSync('/proc/locks', 'utf8').matchAll(/^\d+: (?:-> )?\w+ +\w+ +\w+ +(-?\d+) /gm)
  return [...rows].filter(([, pid = '']) => ours.has(pid)).length
}

const take = `
import ctypes, errno, fcntl, os, socket, struct, time
def take(fd, command, first, count):
    for start in range(first, first + 2 * count, 2): # neighbours would become one
        fcntl.fcntl(fd, command, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, start, 1, 0))
def open_files(count):
    return [os.open(f'{os.getpid()}-{number}', os.O_RDWR | os.O_CREAT) for number in range(count)]
`

/** Each would run for longer than its wall limit. */
const hoards = {
  'record locks over many files': `${take}
files = open_files(200)
for first in range(0, 1_000_000, 200):
    for fd in files: take(fd, fcntl.F_SETLK, first, 100)`,
  'record locks of many processes': `${take}
for child in range(8):
    if os.fork() == 0: break
files = open_files(50)
for first in range(0, 600, 200):
    for fd in files: take(fd, fcntl.F_SETLK, first, 100)
time.sleep(60)`,
  'record locks beside children that are busy and end': `${take}
files = open_files(200)
for first in range(0, 1_000_000, 200):
    for number, fd in enumerate(files):
        take(fd, fcntl.F_SETLK, first, 100)
        if number % 50 == 0 and os.fork() == 0:
            until = time.process_time() + 0.05
            while time.process_time() < until: pass
            os._exit(0)`,
}

async function hoard(code: string, processesMax = limits.processesMax): Promise<RunResult> {
  const { seen } = await untilShown(
    (wallMs) => guests.run({ ...python, code, limits: { ...limits, processesMax, wallMs } }),
    ({ seen: result }) => result.outcome.kind !== 'timed-out',
    deadlinesMs,
  )
  return seen
}

for (const [name, code] of Object.entries(hoards)) {
  test(`${name} are out of memory`, async () => {
    let most = 0
    const watching = setInterval(() => (most = Math.max(most, countLocks())), 200)
    const { outcome, stderr } = await hoard(code).finally(() => clearInterval(watching))
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes }, stderr)
    assert.ok(most > 0 && most < locksMax + 8 * locksBetweenLooks, `${most} locks`)
  })
}

test('a hoard is found even if the limit on processes leaves pid 1 no process for a survey', async () => {
  const code = hoards['record locks over many files']
  const { outcome, stderr } = await hoard(code, 1)
  assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes }, stderr)
})

test('a program with a few thousand locks continues', async () => {
  const code = `${take}
for fd in open_files(20): take(fd, fcntl.F_SETLK, 0, 400)
until = time.process_time() + 1
while time.process_time() < until: pass`
  const { outcome, stderr } = await guests.run({ ...python, code, limits })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
})

test('locks that belong to a descriptor, for which the kernel lists no owner, are refused', async () => {
  const code = `${take}
def refusal(command):
    try: take(open_files(1)[0], command, 0, 1)
    except OSError as error: return errno.errorcode[error.errno]
[refusal(command) for command in (37, 38)] # F_OFD_SETLK, F_OFD_SETLKW`
  const { value, stderr } = await guests.run({ ...python, code, limits })
  assert.deepEqual(value, ['EINVAL', 'EINVAL'], stderr)
})

test('no process can share its table of descriptors and so keep the locks of an ended process', async () => {
  const code = `${take}
libc = ctypes.CDLL(None, use_errno=True)
clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
born = libc.syscall(clone, 0x400 | 17, 0, 0, 0, 0) # CLONE_FILES | SIGCHLD
if born == 0: os._exit(0)
[born, errno.errorcode[ctypes.get_errno()]]`
  const { value, stderr } = await guests.run({ ...python, code, limits })
  assert.deepEqual(value, [-1, 'EPERM'], stderr)
})

test('locks that outlive their creators are bounded by the number of open files', async () => {
  const code = `${take}
def hand_on(connection):
    try:
        fds = open_files(50)
        for fd in fds: fcntl.flock(fd, fcntl.LOCK_EX)
        socket.send_fds(connection, [b'x'], fds)
    finally: os._exit(0)
held = []
handed_on = -1
while handed_on != 0:
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0: hand_on(theirs)
    os.waitpid(child, 0)
    theirs.close()
    fds = socket.recv_fds(ours, 1, 50)[1]
    handed_on = len(fds)
    held += fds
    ours.close()
for fd in held: os.close(fd)
len(held)`
  const openFilesMax = 512
  const { value, stderr } = await guests.run({ ...python, code, limits: { ...limits, openFilesMax } })
  assert.ok(Number(value) > 100 && Number(value) < openFilesMax, `${JSON.stringify(value)} ${stderr}`)
})
